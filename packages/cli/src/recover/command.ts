import { setTimeout as sleep } from 'node:timers/promises';
import { Option } from '@commander-js/extra-typings';
import { among, listOf } from 'terminal/command-line.ts';
import { harmless } from 'terminal/format.ts';
import { count, grid } from 'terminal/grid.ts';
import type { Paint } from 'terminal/paint.ts';
import type { BodyOf, Client, DataOf } from '../../../sdk/src/index.ts';
import { confirm } from '../ask.ts';
import { connect } from '../connection/connect.ts';
import type { Context } from '../context.ts';
import { describeJob } from '../endpoints/view.ts';
import { CommandError } from '../errors.ts';
import { apiCommand, receiverId } from '../flags.ts';
import { receiverClient } from '../receiver-client.ts';
import { runCommand } from '../run.ts';
import { parseSince, toDate } from '../since.ts';

type Job = DataOf<'startRedelivery'> | DataOf<'startChannelRedelivery'>;
type Request = BodyOf<'startRedelivery'>;

const STATUSES = ['exhausted', 'skipped', 'succeeded'] as const;

/** Between two reads of the job that counts. */
const POLL_MS = 2000;

export const recoverCommand = () =>
  apiCommand(
    'recover',
    'Resends an endpoint the events of a time: counts them, asks, and starts a job. By default those whose delivery failed.',
    [
      'recover whk_0192… --since 2h',
      'recover whk_0192… --since 2h --missing --dry-run',
      'recover whk_0192… --since 5h --until 3h --status succeeded',
    ],
  )
    .argument('<endpoint>', 'id of the endpoint or channel', receiverId)
    .requiredOption('--since <time>', 'from when on: 30s, 10m, 2h or 3d ago, or all', parseSince)
    .option('--until <time>', 'until when: 30s, 10m, 2h or 3d ago (now)', parseSince)
    .option(
      '--status <list>',
      'how the deliveries ended, separated by commas: exhausted, skipped (both), or succeeded, which resends what has arrived',
      listOf(among(STATUSES)),
    )
    .addOption(
      new Option(
        '--missing',
        'every event that is for the endpoint and has not arrived, those before its registration too',
      ).conflicts('status'),
    )
    .option('--yes', 'do not ask')
    .option('--dry-run', 'show what would be sent');

type Flags = ReturnType<ReturnType<typeof recoverCommand>['opts']>;

export const runRecover = (id: string, flags: Flags, context: Context): Promise<number> =>
  runCommand(flags, context, async (printer) => {
    const { client, baseUrl, environment } = await connect(flags, context);
    const request: Request = {
      from: toDate(flags.since).toISOString(),
      ...(flags.until && { to: toDate(flags.until).toISOString() }),
      ...(flags.status && { statuses: flags.status }),
      ...(flags.missing && { what: 'missing' }),
    };
    const counted = await countEvents(client, id, request, context);
    if (flags.dryRun || counted.redelivered === 0) {
      printer.result(counted, () => renderCount(counted, printer.paint));
      return;
    }
    printer.note(renderCount(counted, printer.paint));
    const question = `Resend ${describeNumber(counted)} to ${id} at ${baseUrl} (${environment})?`;
    await confirm(question, { isGiven: flags.yes === true, terminal: context });
    // What was counted, and nothing that ended since.
    const job = await receiverClient(client, id).redeliveries.start(
      id,
      { ...request, to: counted.to },
      context,
    );
    printer.result(job, () => `Resending ${describeNumber(counted)}. ${describeJob(job, flags)}`);
  });

/** Waits for a job that only counts. @throws CommandError when it was stopped */
async function countEvents(
  client: Client,
  id: string,
  request: Request,
  { signal }: Pick<Context, 'signal'>,
): Promise<Job> {
  const { redeliveries } = receiverClient(client, id);
  let job = await redeliveries.start(id, { ...request, dryRun: true }, { signal });
  while (job.status === 'running') {
    await sleep(POLL_MS, undefined, { signal });
    job = await redeliveries.get(id, job.id, { signal });
  }
  if (job.status === 'done') return job;
  throw new CommandError('FAILED', `Nothing was sent: the count was stopped (${job.reason}).`);
}

const describeNumber = ({ redelivered }: Job): string =>
  `${count(redelivered)} ${redelivered === 1 ? 'event' : 'events'}`;

/** What a job that only counts would send, by type. */
export function renderCount(job: Job, paint: Paint): string {
  const { redelivered, eventTypes } = job;
  const time = harmless(`between ${job.from} and ${job.to}`);
  if (redelivered === 0) return `Nothing to resend ${time}.`;
  const rows = eventTypes.map((each) => [harmless(each.type), count(each.count)]);
  return `${describeNumber(job)} ${time}:\n${grid(['Event type', 'Events'], rows, paint)}`;
}
