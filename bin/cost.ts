import { readFileSync } from 'node:fs';
import { paintFor } from 'terminal/paint.ts';
import { costCommand } from '../lib/cost/command.ts';

const measured: unknown = JSON.parse(
  readFileSync(new URL('../lib/cost/measured.json', import.meta.url), 'utf8'),
);
costCommand(process.argv.slice(2), measured, { output: process.stdout, paint: paintFor(process.stdout) });
