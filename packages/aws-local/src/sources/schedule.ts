import { randomUUID } from 'node:crypto';
import { ACCOUNT, REGION } from '../arns.ts';
import { LocalRunError } from '../errors.ts';
import type { InvocationResult } from '../functions/sandbox.ts';
import type { Source } from './source.ts';

const UNIT_MS: Record<string, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** A longer Node.js timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Period of `rate(value unit)` in milliseconds.
 * @throws LocalRunError for `cron(…)` and other expressions
 */
export function ratePeriod(expression: string): number {
  const [, value, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const period = Number(value) * (UNIT_MS[unit ?? ''] ?? Number.NaN);
  if (!(period > 0))
    throw new LocalRunError(`Schedule expression not supported by the local run: ${expression}`);
  return period;
}

/** EventBridge's event for a scheduled rule without its own input. */
export function scheduledEvent(ruleArn: string, now: Date): Record<string, unknown> {
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': 'Scheduled Event',
    source: 'aws.events',
    account: ACCOUNT,
    // EventBridge gives whole seconds.
    time: now.toISOString().replace(/\.\d+Z$/, 'Z'),
    region: REGION,
    resources: [ruleArn],
    detail: {},
  };
}

export interface ScheduleOptions {
  periodMs: number;
  /** Builds the event of one occurrence. */
  event: (now: Date) => unknown;
  invoke: (event: unknown) => Promise<InvocationResult>;
  log: (text: string) => void;
}

/** Invokes a function once per period, first after one period, as EventBridge does. */
export function startSchedule({ periodMs, event, invoke, log }: ScheduleOptions): Source {
  const running = new Set<Promise<void>>();
  const timer = setInterval(
    () => {
      const work = fire().finally(() => running.delete(work));
      running.add(work);
    },
    Math.min(periodMs, LONGEST_TIMER_MS),
  );

  async function fire(): Promise<void> {
    const result = await invoke(event(new Date()));
    if (result.functionError) log(`scheduled invocation failed: ${JSON.stringify(result.payload)}`);
  }

  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(running);
    },
  };
}
