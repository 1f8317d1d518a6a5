import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, relative } from 'node:path';
import { commandLine, text, wholeNumber } from 'terminal/command-line.ts';
import { Measured } from '../../lib/cost/measured.ts';
import { contextOf } from '../infra/contexts.ts';
import bundleOnce from '../integration/bundles.ts';
import { ending, endWhenInterrupted } from './measure/resources.ts';
import { atOtherRates, measureFailures, measureIdle, measureSuccesses } from './requests/pieces.ts';
import { readTemplate } from './requests/template.ts';
import { startWatchedRun } from './requests/watched-run.ts';

/*
 * The requests of each piece of work to AWS: the real functions of the real template on this machine, with a
 * recorder in each function's process that writes down every request and its consumed capacity.
 */

const { out, rounds } = commandLine(
  'npm run bench -- requests',
  'Counts what a message, a delivery of each kind and an idle month ask of AWS, and writes it to lib/cost/measured.json, from which "npm run cost" calculates. Takes about twelve minutes on a machine that does nothing else.',
)
  .option('--rounds <n>', 'messages of each of 40 organizations, at each rate', wholeNumber(1, 100), 5)
  .option('--out <file>', 'another file', text, join(import.meta.dirname, '../../lib/cost/measured.json'))
  .parse()
  .opts();

const say = (step: string) => process.stdout.write(`${step}\n`);

/**
 * Shorter waits between attempts, still longer than the window of the deliveries' stream (10 s), and a
 * shorter deadline: they change when requests are made, not how many.
 */
const CONTEXT = { retryBaseSeconds: 12, retryCapSeconds: 12, attemptTimeoutSeconds: 4 };

endWhenInterrupted();
await bundleOnce();
say('What the templates of production and of a stage of low cost say');
const template = await readTemplate(contextOf());
const cheap = await readTemplate({ stage: 'dev', settings: { class: 'development' } });
await ending(
  await startWatchedRun(CONTEXT),
  (run) => run.stop(),
  async (run) => {
    say('A run of each scheduled function with nothing to do');
    const schedules = await measureIdle(run, template);
    say('Messages, and deliveries that succeed at once');
    const successes = await measureSuccesses(run, template.memory, rounds);
    say('Deliveries that fail');
    const failures = await measureFailures(run, template.memory);
    const measured = Measured.parse({
      date: new Date().toISOString().slice(0, 10),
      machine: `${cpus().length} x ${cpus()[0]?.model.trim()}, Node.js ${process.version}`,
      idle: {
        prod: { resources: template.resources, ...schedules },
        dev: { resources: cheap.resources, ...atOtherRates(schedules, template.schedules, cheap.schedules) },
      },
      inUse: template.inUse,
      ...successes,
      ...failures,
    });
    writeFileSync(out, `${JSON.stringify(measured, null, 2)}\n`);
  },
);
say(`${relative(process.cwd(), out)} is written.`);
