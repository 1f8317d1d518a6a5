import { formatDuration, indent } from 'terminal/format.ts';
import { pathForShell } from 'terminal/local-run/directory.ts';
import type { Paint } from 'terminal/paint.ts';
import { renderDelivery } from '../../../packages/cli/src/delivery-view.ts';
import type { Demonstrated } from './demonstration.ts';

/** Renders the demonstration with its times, or why it shows no delivery. */
export function renderDemonstration(
  { requestMs, arrival }: Pick<Demonstrated, 'requestMs' | 'arrival'>,
  paint: Paint,
): string {
  if (arrival.kind === 'missing') return `  ${paint('yellow', '!')} ${arrival.reason}`;
  return [
    `  ${paint('cyan', '→')} POST /api/v1/conversations   ${paint('green', '201')} after ${formatDuration(requestMs)}`,
    `  ${paint('cyan', '←')} its delivery, signed         ${formatDuration(arrival.deliveryMs)} later`,
    '',
    indent(renderDelivery(arrival.delivery, false, paint), 4),
  ].join('\n');
}

/** With the admin's token, valid for 24 hours; MEMBER_TOKEN is a member's. */
const SETTINGS_CALL: [command: string, does: string] = [
  'curl -H "Authorization: Bearer $ADMIN_TOKEN" $BASE_URL/api/settings/organization',
  '',
];

const FORWARD: [command: string, does: string] = [
  'npx conversations listen --sandbox --forward URL',
  'posts what happens in your sandbox ($SANDBOX_API_KEY) to your own URL',
];

/**
 * Renders the last screen of the start: URLs and next steps.
 * @param place.dashboardUrl absent when the stack has none
 * @param place.mailboxUrl shows sent e-mail
 * @param place.sessions whether users can sign in
 * @param place.sandbox whether there is a sandbox key
 * @param place.times set by the environment
 */
export function renderReady(
  place: {
    baseUrl: string;
    dashboardUrl?: string;
    mailboxUrl: string;
    environmentFile: string;
    logFile: string;
    cwd: string;
    sessions: boolean;
    sandbox: boolean;
    times: readonly string[];
  },
  paint: Paint,
): string {
  const environmentFile = pathForShell(place.environmentFile, place.cwd);
  const next: [command: string, does: string][] = [
    [`source ${environmentFile}`, 'BASE_URL, keys, tokens and certificate files for your shell'],
    ['curl -H "Authorization: Bearer $API_KEY" $BASE_URL/api/v1/conversations', ''],
    ...(place.sessions ? [SETTINGS_CALL] : []),
    ['npx conversations listen', 'receives deliveries and shows them (in another terminal)'],
    ...(place.sandbox ? [FORWARD] : []),
    ['Ctrl-C', 'stops; npm start continues with the data, npm start -- --fresh starts with new data'],
  ];
  const width = 34;
  const rows = next.map(([command, does]) => {
    const shown = paint('cyan', command.padEnd(does === '' ? 0 : width));
    return `    ${shown}${does === '' ? '' : `  ${paint('dim', does)}`}`;
  });
  const { dashboardUrl } = place;
  return [
    ...(dashboardUrl === undefined
      ? []
      : [`  ${paint(['bold', 'green'], 'Dashboard')}  ${paint('bold', dashboardUrl)}`]),
    `  ${paint(['bold', 'green'], 'Ready')}      ${paint('bold', `${place.baseUrl}/api/v1`)}`,
    `  ${paint('dim', 'Reference')}  ${place.baseUrl}/docs`,
    `  ${paint('dim', 'Mail')}       ${place.mailboxUrl}`,
    ...(place.times.length === 0 ? [] : [`  ${paint('dim', 'Times')}      ${place.times.join(' ')}`]),
    '',
    ...rows,
    '',
    `  ${paint('dim', `The functions' log: ${pathForShell(place.logFile, place.cwd)} (--verbose shows it here)`)}`,
  ].join('\n');
}
