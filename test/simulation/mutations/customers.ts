import type { Mutation } from './mutation.ts';

const REDELIVER = 'functions/engine/redeliver.ts';

/** Mutations of what customers and operators ask for: jobs, examples, attempts at once, and readers. */
export const CUSTOMERS: readonly Mutation[] = [
  {
    name: 'a job that is to count only resends',
    file: REDELIVER,
    find: '        job.dryRun === true\n',
    replace: '        untilMs === 0\n',
    breaks: ['whole job'],
  },
  {
    name: 'a job passes over the first of each page',
    file: REDELIVER,
    find: 'planPage(job, endpoint, examined.items, isResumed)',
    replace: 'planPage(job, endpoint, examined.items.slice(1), isResumed)',
    breaks: ['whole job'],
  },
  {
    name: 'a job whose message is lost stands still',
    file: 'functions/engine/resume-redelivery-jobs.ts',
    find: "return found === 'unheld' ? job : undefined;",
    replace: "return found === 'held' ? job : undefined;",
    breaks: ['comes to rest'],
  },
  {
    name: 'an example is for an endpoint that does not subscribe to its type',
    file: 'functions/domain/events.ts',
    find: '(onlyTo !== undefined && !isSubscribable(type))',
    replace: 'onlyTo !== undefined',
    breaks: ['right deliveries'],
  },
  {
    name: 'an attempt at once takes its delivery out of the due index',
    file: 'functions/store/due-index.ts',
    find: "UpdateExpression: 'SET nextRetryAt = :now',",
    replace: "UpdateExpression: 'SET nextRetryAt = :now REMOVE dueIn, dueKey',",
    breaks: ['nothing lost'],
  },
  {
    name: 'an endpoint that an operator enables keeps its failures',
    file: 'functions/store/endpoint-scan.ts',
    find: 'SET #status = :to, consecutiveFailures = :zero,',
    replace: 'SET #status = :to,',
    breaks: ['exact count'],
  },
  {
    name: 'a follower reads events before earlier ones are committed',
    file: 'functions/domain/timing.ts',
    find: 'export const COMMIT_WINDOW_SECONDS = API_TIMEOUT_SECONDS + 5;',
    replace: 'export const COMMIT_WINDOW_SECONDS = API_TIMEOUT_SECONDS - 9;',
    breaks: ['followed once'],
  },
  {
    name: 'an attempt at once makes no attempt due',
    file: 'functions/store/due-index.ts',
    find: "UpdateExpression: 'SET nextRetryAt = :now',",
    replace: "UpdateExpression: 'SET lastError = :now',",
    breaks: ['comes to rest'],
  },
];
