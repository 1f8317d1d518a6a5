import { readFileSync } from 'node:fs';
import { styleText } from 'node:util';
import { costCommand } from '../lib/cost/command.ts';

const measured: unknown = JSON.parse(
  readFileSync(new URL('../lib/cost/measured.json', import.meta.url), 'utf8'),
);
process.exitCode = costCommand(process.argv.slice(2), measured, {
  output: process.stdout,
  errors: process.stderr,
  paint: (style, text) => styleText(style, text, { stream: process.stdout }),
});
