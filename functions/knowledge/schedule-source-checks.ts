import type { Log } from '../aws/log-codes.ts';
import type { Row } from '../aws/table.ts';
import type { WorkerQueue } from '../delivery/queues.ts';
import { SOURCE_DUE_SHARDS } from '../tenancy/keys.ts';
import { processInRounds, sendMessages, sweep, updateEntries } from '../tenancy/sweep.ts';
import { buildDueEvent, type DueSource, type dueSources, RESEND_SECONDS } from './sources.ts';

/**
 * Sends a message for every due source, then moves its due time, so that a source with a lost message becomes
 * due again.
 */
export function scheduleSourceChecks({
  due,
  checks,
  log,
  now,
}: {
  due: ReturnType<typeof dueSources>;
  checks: WorkerQueue;
  log: Log;
  now: () => Date;
}) {
  /**
   * @returns the numbers of sources whose message was sent and of those left to the next run, the delay of
   * the latest one, and whether all due ones were processed
   * @throws as `sweep`
   */
  return async (hasTime: () => boolean) => {
    const done = { sent: 0, left: 0, latestSeconds: 0, complete: true };

    async function handle(sources: readonly DueSource[]): Promise<[]> {
      const sent = await sendMessages(
        sources,
        (source) => buildDueEvent(source, now()),
        checks.send,
        (error) => log('CHECKS_NOT_SENT', { error }),
      );
      const dueAt = new Date(now().getTime() + RESEND_SECONDS * 1000);
      const unmoved = await updateEntries(
        sent,
        (source) => due.postpone(source, dueAt),
        ({ id: sourceId }, error) => log('SOURCE_NOT_MOVED', { sourceId, error }),
      );
      done.sent += sent.length;
      done.left += sources.length - sent.length + unmoved;
      const delays = sources.map((source) => (now().getTime() - Date.parse(source.dueAt)) / 1000);
      done.latestSeconds = Math.max(done.latestSeconds, ...delays);
      return [];
    }

    const startedAt = now();
    const takeSources = processInRounds({
      partitions: SOURCE_DUE_SHARDS,
      find: (shard, position?: Row) => due.find(shard, startedAt, position),
      getOrganization: ({ orgId }) => orgId,
      handle,
      logUnread: (shard, error) => log('SOURCE_SHARD_UNREAD', { shard, error }),
    });
    done.complete = await sweep([takeSources], { now: startedAt, hasTime, log });
    return done;
  };
}
