import { among, commandLine, decimal, repeatable, wholeNumber } from 'terminal/command-line.ts';
import { paintFor } from 'terminal/paint.ts';
import { temporaryDirectory } from '../support/local-run.ts';
import { type Block, type Figure, figure } from './figure.ts';
import { describeMachine } from './measure/machine.ts';
import { ending, endWhenInterrupted } from './measure/resources.ts';
import { recoverKilled } from './recovery/killed.ts';
import { recoverLarge } from './recovery/large.ts';
import type { Disorder } from './recovery/order.ts';
import { haveOutage, measureDelays, recover } from './recovery/outage.ts';
import { planOutage } from './recovery/planned.ts';
import { type Delay, LIVE, MOST_TIMES, type Stage, startStage } from './recovery/stage.ts';
import type { Delays } from './recovery/windows.ts';
import { renderBlock } from './table.ts';

/*
 * Rehearsals of recovery after an outage in one local run, with live events meanwhile: their latency is
 * compared with that of the same load without a job, in turns.
 */
const REHEARSALS = ['outage', 'kill', 'large', 'planned'] as const;
type Rehearsal = (typeof REHEARSALS)[number];

const paint = paintFor(process.stdout);
const say = (text: string) => process.stdout.write(`${text}\n`);
const began = performance.now();
const progress = (name: Rehearsal, text: string) =>
  process.stderr.write(
    `${((performance.now() - began) / 1000).toFixed(0).padStart(6)} s  ${name.padEnd(8)}${text}\n`,
  );
const faults: string[] = [];
const expectThat = (holds: boolean, fault: string) => {
  if (!holds) faults.push(fault);
};

const countFigures = (
  subject: string,
  { events, missing, doubles }: { events: number; missing: number; doubles: number },
): Figure[] => [
  figure(subject, 'events', events),
  figure(subject, 'missing', missing),
  figure(subject, 'twice', doubles),
];

const disorderFigures = (subject: string, { p99, most }: Disorder): Figure[] => [
  figure(subject, 'out of order p99', p99),
  figure(subject, 'at most', most),
];

/** Records a fault when live events were delayed. */
function delayBlock(title: string, { same, other, samples }: Delays): Block {
  const rows: [string, Delay][] = [
    ['at the endpoint of the job', same],
    ['at another endpoint', other],
  ];
  for (const [where, { ratio }] of rows)
    expectThat(ratio <= MOST_TIMES, `${title}: p99 ${where} is ${ratio.toFixed(2)} times that without a job`);
  return {
    title,
    figures: rows.flatMap(([where, delay]) => [
      figure(where, 'samples', samples),
      figure(where, 'p99 without', delay.without, 'ms'),
      figure(where, 'p99 with', delay.with, 'ms'),
      figure(where, 'ratio', delay.ratio, 'x'),
    ]),
    notes: [`From an event’s creation to its arrival. The ratio is to be at most ${MOST_TIMES}.`],
  };
}

interface Terms {
  events: number;
  large: number;
  planned: number;
  turns: number;
  rate: number;
  answersAfter: number;
}

async function rehearseOutages(
  stage: Stage,
  rehearsals: readonly Rehearsal[],
  conversation: string,
  { events: count, turns, rate }: Terms,
): Promise<void> {
  progress('outage', `${count} events while the receiver answers 503`);
  const outage = await haveOutage(stage, count);
  const events = outage.events.length;
  if (rehearsals.includes('outage')) {
    progress('outage', 'registered again, test event, count, job');
    const done = await recover(stage, outage, conversation, rate);
    expectThat(done.missing + done.liveMissing === 0, 'outage: events are missing');
    expectThat(done.doubles + done.liveDoubles === 0, 'outage: events came twice');
    expectThat(done.counted === events, `outage: the dry run counted ${done.counted} of ${events}`);
    const subject = 'outage and recovery';
    const title = 'An outage, and recovery as in docs/guides/recovery.md';
    const figures = [
      ...countFigures(subject, { ...done, events }),
      figure(subject, 'counted first', done.counted),
      figure(subject, 'live twice or missing', done.liveDoubles + done.liveMissing),
      ...disorderFigures(subject, done),
      figure(subject, 'job', done.jobSeconds, 's'),
    ];
    say(renderBlock({ title, figures }, paint));
    await stage.remove(outage.endpoint);
    progress('outage', `${turns} turns without and with a job`);
    const delays = await measureDelays(stage, outage, { turns, conversation, perSecond: rate });
    say(renderBlock(delayBlock(`Live events beside a job of ${events} events`, delays), paint));
  }
  await stage.remove(outage.endpoint);
  if (!rehearsals.includes('kill')) return;
  progress('kill', 'a job, kill -9 of all processes in its middle, a new start');
  const done = await recoverKilled(stage, outage, conversation, rate);
  expectThat(done.missing === 0, 'kill: events are missing');
  const subject = 'kill -9 in a job';
  const figures = [
    ...countFigures(subject, { ...done, events }),
    figure(subject, 'before the kill', done.before),
    figure(subject, 'healed after', done.healedSeconds, 's'),
  ];
  const notes = ['Attempts in progress at the kill may come twice; messages in queues are lost and resent.'];
  say(renderBlock({ title: 'Killed in the middle of a job', figures, notes }, paint));
}

async function rehearseLarge(stage: Stage, conversation: string, { large, rate }: Terms): Promise<void> {
  progress('large', `${large} events are written`);
  const done = await recoverLarge(stage, { count: large, conversation, perSecond: rate }, (text) =>
    progress('large', text),
  );
  expectThat(done.missing === 0, 'large: events are missing');
  expectThat(done.doubles === 0, 'large: events came twice');
  expectThat(done.resent === 0, 'large: the second job resent events');
  expectThat(done.isMonotone, 'large: progress went back');
  const subject = 'stopped and started again';
  const figures = [
    ...countFigures(subject, { ...done, events: large }),
    figure(subject, 'by both jobs', done.resent),
    figure(subject, 'stopped at %', 100 * done.stoppedAt),
    ...disorderFigures(subject, done),
    figure(subject, 'jobs', done.jobSeconds, 's'),
    figure(subject, 'redelivered', large / done.jobSeconds, '/s'),
    figure(subject, 'reads of progress', done.reads),
    figure(subject, 'slowest read', done.slowestReadMs, 'ms'),
  ];
  say(renderBlock({ title: 'A large job', figures }, paint));
  say(renderBlock(delayBlock(`Live events beside a job of ${large} events`, done), paint));
}

async function rehearsePlanned(
  stage: Stage,
  conversation: string,
  { planned: count, turns, rate }: Terms,
): Promise<void> {
  progress('planned', `${count} events while ${turns + 1} endpoints are paused`);
  const load = { count, turns, conversation, perSecond: rate };
  const { delays, failuresLeft, killed, ...done } = await planOutage(stage, load, (text) =>
    progress('planned', text),
  );
  const missing = done.missing + killed.missing;
  expectThat(missing === 0, 'planned: events are missing');
  expectThat(done.doubles + killed.resent === 0, 'planned: events came twice');
  const isUntouched = String(failuresLeft.after) === String(failuresLeft.before);
  expectThat(
    isUntouched,
    `planned: failures until disabled were ${failuresLeft.before}, then ${failuresLeft.after}`,
  );
  const subject = 'after a pause';
  const figures = [
    ...countFigures(subject, { ...done, missing, events: count * (turns + 1) }),
    figure(subject, 'failures left', failuresLeft.after[0] ?? Number.NaN),
    figure('kill -9 in a catch-up', 'before the kill', killed.before),
    figure('kill -9 in a catch-up', 'twice', killed.doubles),
  ];
  const notes = [
    `${count} events at 50 a second are an outage of ${(count / 3000).toFixed(0)} minutes; they were written faster.`,
  ];
  say(renderBlock({ title: 'An outage that a pause announces, with kill -9 in it', figures, notes }, paint));
  say(renderBlock(delayBlock('Live events beside a catch-up', delays), paint));
}

async function rehearse(rehearsals: readonly Rehearsal[], terms: Terms): Promise<void> {
  const { rate, answersAfter } = terms;
  say(`\n  ${paint('bold', 'Recovery')} of ${describeMachine()}`);
  say(`  ${rate} live events/s, receivers answer after ${answersAfter} ms\n`);
  await ending(
    await temporaryDirectory(),
    (directory) => directory.remove(),
    async ({ path }) =>
      ending(
        await startStage(path, terms.answersAfter),
        (stage) => stage.stop(),
        async (stage) => {
          await stage.register('/other', [LIVE]);
          const { id } = await stage.create('/api/v1/conversations', {
            channelId: 'chn_test',
            externalUserId: 'user-1',
          });
          const conversation = String(id);
          if (rehearsals.some((name) => name === 'outage' || name === 'kill'))
            await rehearseOutages(stage, rehearsals, conversation, terms);
          if (rehearsals.includes('large')) await rehearseLarge(stage, conversation, terms);
          if (rehearsals.includes('planned')) await rehearsePlanned(stage, conversation, terms);
        },
      ),
  );
}

const { rehearsal = [...REHEARSALS], ...terms } = commandLine(
  'npm run bench -- recovery',
  `Rehearses recovery in a local run: an outage until the endpoint is disabled, registration, test event, dry run and job; a job in whose middle all processes are killed; a large job that is stopped and started again; and a planned outage in a pause, in which all processes are killed. Prints figures, and exits with 1 when an event is missing, one came twice without a kill, or the p99 of live events is more than ${MOST_TIMES} times that of turns without a job.`,
)
  .option('--rehearsal <name>', 'this one; may be repeated', repeatable(among(REHEARSALS)))
  .option('--events <n>', 'of the outage', wholeNumber(10, 1_000_000), 500)
  .option('--large <n>', 'events of the large job', wholeNumber(10, 10_000_000), 20_000)
  .option('--planned <n>', 'events of the planned outage', wholeNumber(10, 1_000_000), 20_000)
  .option('--turns <n>', 'without and with a job', wholeNumber(1, 50), 4)
  .option('--answers-after <ms>', 'until receivers answer', wholeNumber(0, 9_000), 0)
  .option('--rate <n>', 'live events in a second', decimal(0.1, 10_000), 20)
  .parse()
  .opts();

endWhenInterrupted();
await rehearse(rehearsal, terms);
say(faults.length === 0 ? paint('green', '  All as promised.') : paint('red', `  ${faults.join('\n  ')}`));
process.exitCode = faults.length === 0 ? 0 : 1;
