import { REDELIVER_LEASE_SECONDS } from '../../functions/delivery/timing.ts';
import type { BusEvent } from '../../functions/events/bus.ts';
import { endpointStore } from '../../functions/receivers/endpoints.ts';
import { redeliveryJobs, redeliveryRounds } from '../../functions/redelivery/jobs.ts';
import { resumeRedeliveryJobs, runRedeliveryJob } from '../../functions/redelivery/redeliver.ts';
import type { Invoke } from './invocations.ts';
import type { World } from './world.ts';

/** The workers of redelivery jobs. */
export class Redeliveries {
  readonly #world: World;
  readonly #invoke: Invoke;

  constructor(world: World, invoke: Invoke) {
    this.#world = world;
    this.#invoke = invoke;
  }

  /** Runs the next round of a job. */
  run(): void {
    const { rounds, clock, terms, statistics, witness } = this.#world;
    const letter = rounds.receive(clock.ms);
    if (letter === undefined) return;
    statistics.count('rounds of jobs');
    this.#invoke(
      'redeliver',
      async ({ process, tables, commit, rounds: next, ...context }) => {
        witness.jobs.begins(process, String(letter.content.data.redeliveryId));
        const { roundSeconds, pageSize, window } = terms;
        const run = runRedeliveryJob(
          {
            ...context,
            tables,
            jobs: redeliveryRounds(tables, commit),
            endpoints: endpointStore(tables.service),
            rounds: next,
          },
          { leaseSeconds: REDELIVER_LEASE_SECONDS, roundSeconds, pageSize, window },
        );
        await run(letter.content as BusEvent);
      },
      (failed) => {
        if (!failed) rounds.remove(letter);
      },
    );
  }

  /** Sends the messages of jobs whose message is lost. */
  resume(over: () => void): void {
    const { terms, statistics } = this.#world;
    this.#invoke(
      'resume-redelivery-jobs',
      async ({ tables: { service }, rounds, organizations, log, now }) => {
        const run = resumeRedeliveryJobs(
          { jobs: redeliveryJobs(service), rounds, organizations, log, now },
          { graceSeconds: terms.graceSeconds },
        );
        const { sent } = await run(() => true);
        statistics.count('jobs resumed', sent);
      },
      over,
    );
  }
}
