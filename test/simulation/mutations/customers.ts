import { inFile, type Mutation } from './mutation.ts';

const TERMS = 'test/simulation/terms.ts';

const FEW_ATTEMPTS = {
  file: TERMS,
  find: 'random.pick([ATTEMPTS, ATTEMPTS, ATTEMPTS, 1, 1, 2])',
  replace: 'random.pick([1])',
};
const SMALL_WINDOW = {
  file: TERMS,
  find: 'window: random.pick([1, 2, 16])',
  replace: 'window: random.pick([1])',
};
const MANY_JOBS = {
  file: 'test/simulation/faults.ts',
  find: "'redelivery-job': 1,",
  replace: "'redelivery-job': 4,",
};

/** Many failures, and jobs of short rounds and a small window. */
const SHORT_ROUNDS: Mutation['also'] = [
  FEW_ATTEMPTS,
  { file: TERMS, find: 'roundSeconds: random.pick([0, 2, 10])', replace: 'roundSeconds: random.pick([0])' },
  SMALL_WINDOW,
  MANY_JOBS,
];

/** Many failures, jobs of one large page and a small window, each stopped once it has resent something. */
const STOPPED_JOBS: Mutation['also'] = [
  FEW_ATTEMPTS,
  { file: TERMS, find: 'pageSize: random.pick([1, 8, 200])', replace: 'pageSize: random.pick([200])' },
  { file: TERMS, find: 'roundSeconds: random.pick([0, 2, 10])', replace: 'roundSeconds: random.pick([10])' },
  SMALL_WINDOW,
  MANY_JOBS,
  {
    file: 'test/simulation/customers.ts',
    find: "if (random.chance(0.5) && !isUntroubled)\n      void processes.later(random.pick([0.3, 0.6, 1, 2]), 'a request to stop', async () => this.stopJob());",
    replace:
      "const stop = async (): Promise<unknown> =>\n      [...this.#world.tables.deliveries.values()].some(({ webhookId, redeliveryOf }) => webhookId === id && redeliveryOf !== undefined)\n        ? this.stopJob()\n        : this.#world.tables.runs.size > 0 && processes.later(0.1, 'a request to stop', stop);\n    if (!isUntroubled) void stop();",
  },
];

/** Mutations of what customers and operators ask for: jobs, examples, attempts at once, and readers. */
export const CUSTOMERS: readonly Mutation[] = [
  ...inFile('functions/redelivery/redeliver.ts', [
    {
      name: 'a job that is to count only resends',
      find: 'job.dryRun === true ? {} : await',
      replace: 'untilMs === 0 ? {} : await',
      breaks: ['whole job'],
    },
    {
      name: 'a job passes over the first of each page',
      find: 'pages.plan(job, endpoint, page.items)',
      replace: 'pages.plan(job, endpoint, page.items.slice(1))',
      also: [FEW_ATTEMPTS, MANY_JOBS],
      breaks: ['whole job', 'window'],
    },
    {
      name: 'a job forgets in each round what waits',
      find: '(delivery && isWaiting ?',
      replace: '(delivery && isWaiting && isAfterLoss ?',
      also: SHORT_ROUNDS,
      breaks: ['window'],
    },
    {
      name: 'a stopped job goes on to the end of its page',
      find: '!(await jobs.reach(job, getPlace(job, group.at(-1)?.item)))',
      replace: 'untilMs === 0',
      also: STOPPED_JOBS,
      breaks: ['window'],
    },
    {
      name: 'a job whose message is lost stands still',
      find: 'else return [{ run, job }];',
      replace: 'else done.held += 1;',
      breaks: ['comes to rest'],
    },
  ]),
  ...inFile('functions/events/events.ts', [
    {
      name: 'an example is for an endpoint that does not subscribe to its type',
      find: '(onlyTo !== undefined && !isSubscribable(type))',
      replace: 'onlyTo !== undefined',
      breaks: ['right deliveries', 'as its endpoint says', 'done once'],
    },
  ]),
  ...inFile('functions/delivery/rows.ts', [
    {
      name: 'an attempt at once takes its delivery out of the due index',
      find: 'expression`SET nextRetryAt = ${now.toISOString()} REMOVE nextRetryReason`',
      replace: 'expression`SET nextRetryAt = ${now.toISOString()} REMOVE dueIn, dueKey`',
      breaks: ['nothing lost'],
    },
  ]),
  ...inFile('lib/operate/endpoint-scan.ts', [
    {
      name: 'an endpoint that an operator enables keeps its failures',
      find: "assign({ status: 'active', consecutiveFailures: 0, pace: NEW })",
      replace: "assign({ status: 'active', pace: NEW })",
      breaks: ['exact count'],
      firstSeed: 400,
    },
  ]),
  ...inFile('functions/aws/pages.ts', [
    {
      name: 'a follower reads events before earlier ones are committed',
      find: 'export const COMMIT_WINDOW_SECONDS = API_TIMEOUT_SECONDS + 5;',
      replace: 'export const COMMIT_WINDOW_SECONDS = API_TIMEOUT_SECONDS - 9;',
      breaks: ['followed once'],
    },
    {
      name: 'a follower of a conversation passes messages that are committed later',
      find: 'new Date(now.getTime() - COMMIT_WINDOW_SECONDS * 1000)',
      replace: 'new Date(now.getTime() - 0 * COMMIT_WINDOW_SECONDS)',
      breaks: ['followed once'],
    },
    {
      name: 'a follower of a conversation forgets which messages it got',
      find: 'if (row.id >= settled) named.add(row.id);',
      replace: '',
      breaks: ['followed once'],
    },
  ]),
  ...inFile('functions/http/idempotency.ts', [
    {
      name: 'an idempotency key is recorded after the effect',
      find: 'const result = await commit([...guard, ...changes]);',
      replace: 'const result = await commit(changes);\n    if (guard.length > 0) await commit(guard);',
      breaks: ['done once'],
    },
    {
      name: 'a repeated request is refused for what the first one did',
      find: 'if (first === undefined) return refusal;',
      replace: 'if (first?.fingerprint === fingerprint) return refusal;',
      breaks: ['done once'],
    },
  ]),
];
