import { readFileSync } from 'node:fs';
import { costCommand } from '../lib/cost/command.ts';
import { paintFor } from '../packages/cli/src/terminal/paint.ts';

const measured: unknown = JSON.parse(
  readFileSync(new URL('../lib/cost/measured.json', import.meta.url), 'utf8'),
);
costCommand(process.argv.slice(2), measured, { output: process.stdout, paint: paintFor(process.stdout) });
