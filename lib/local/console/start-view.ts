import { relative } from 'node:path';
import { renderDelivery } from './delivery-view.ts';
import type { Demonstrated } from './demonstration.ts';
import { quoteForShell } from './environment-file.ts';
import { formatDuration, indent } from './format.ts';
import type { Paint } from './paint.ts';

/** What the demonstration did, with its times. */
export function renderDemonstration(seen: Demonstrated, paint: Paint): string {
  return [
    `  ${paint('cyan', '→')} POST /api/v1/conversations   ${paint('green', '201')} after ${formatDuration(seen.requestMs)}`,
    `  ${paint('cyan', '←')} its delivery, signed         ${formatDuration(seen.deliveryMs)} later`,
    '',
    indent(renderDelivery(seen.delivery, false, paint), 4),
  ].join('\n');
}

/** The last screen of the start: where everything is and what to do next. */
export function renderReady(
  place: { baseUrl: string; environmentFile: string; logFile: string; cwd: string },
  paint: Paint,
): string {
  const environmentFile = pathForShell(place.environmentFile, place.cwd);
  const next: [command: string, does: string][] = [
    [`source ${environmentFile}`, 'BASE_URL, API_KEY and the certificate files for your shell'],
    ['curl -H "Authorization: Bearer $API_KEY" $BASE_URL/api/v1/conversations', ''],
    ['npm run listen', 'receives deliveries and shows them (in another terminal)'],
    ['Ctrl-C', 'stops; npm start goes on from here, npm start -- --fresh begins anew'],
  ];
  const width = 28;
  const rows = next.map(([command, does]) => {
    const shown = paint('cyan', command.padEnd(does === '' ? 0 : width));
    return `    ${shown}${does === '' ? '' : `  ${paint('dim', does)}`}`;
  });
  return [
    `  ${paint(['bold', 'green'], 'Ready')}   ${paint('bold', `${place.baseUrl}/api/v1`)}`,
    '',
    ...rows,
    '',
    `  ${paint('dim', `The functions' log: ${pathForShell(place.logFile, place.cwd)} (--verbose shows it here)`)}`,
  ].join('\n');
}

/** The shorter of the absolute and the relative path, as a word for the shell. */
export function pathForShell(path: string, cwd: string): string {
  const below = relative(cwd, path);
  const shown = below !== '' && !below.startsWith('..') ? below : path;
  return /^[\w@%+=:,./-]+$/.test(shown) ? shown : quoteForShell(shown);
}
