import { UserError } from 'terminal/errors.ts';
import { readDirectory, readVariable, type Variables } from 'terminal/local-run/directory.ts';

/** Settings of `npm start` from its environment. */
export interface Settings {
  /** 0 for any free port. */
  port: number;
  /** Absolute. */
  directory: string;
  /** As given, for messages. */
  directoryShown: string;
  retryBaseSeconds?: number;
  retryCapSeconds?: number;
  attemptTimeoutSeconds?: number;
  /** Seconds past due after which a delivery's message counts as lost. */
  graceSeconds?: number;
  /** Seconds after a sandbox reset in which functions that began before may still use the old data. */
  lingerSeconds?: number;
  /** Seconds between two checks of a source. */
  checkEverySeconds?: number;
  /** Seconds after a request for a check in which another of the same source is rejected. */
  syncCooldownSeconds?: number;
  /** Minimum seconds between two e-mails to admins about a source. */
  noticeSeconds?: number;
  /** Of the local organization's tier. */
  rateLimitPerMinute?: number;
  /** Of the organization's sandbox, never above its own. */
  sandboxRateLimitPerMinute?: number;
  dynamodbEndpoint?: string;
  sqsEndpoint?: string;
}

/** Variables of times, which are shown at the start when they are set. */
const TIMES = [
  'RETRY_BASE_SECONDS',
  'RETRY_CAP_SECONDS',
  'ATTEMPT_TIMEOUT_SECONDS',
  'GRACE_SECONDS',
  'LINGER_SECONDS',
  'CHECK_EVERY_SECONDS',
  'SYNC_COOLDOWN_SECONDS',
  'NOTICE_SECONDS',
] as const;

/** Lists the times that differ from a deployment's, as a shell would set them. */
export const listGivenTimes = (variables: Variables): string[] =>
  TIMES.flatMap((name) => {
    const value = readVariable(variables, name);
    return value === undefined ? [] : [`${name}=${value}`];
  });

/** The stack's defaults. */
const STANDARD = { retryBaseSeconds: 30, retryCapSeconds: 3600, rateLimitPerMinute: 6000 };

const MAX_RATE_LIMIT = 1_000_000_000;

/**
 * Reads the settings of the local run. An empty variable counts as absent.
 * @param cwd base of relative paths
 * @throws UserError naming the variable and its constraint
 */
export function readSettings(variables: Variables, cwd: string): Settings {
  const retryBaseSeconds = seconds(variables, 'RETRY_BASE_SECONDS', [0, 3600]);
  const retryCapSeconds = seconds(variables, 'RETRY_CAP_SECONDS', [0, 43_200]);
  const base = retryBaseSeconds ?? STANDARD.retryBaseSeconds;
  if ((retryCapSeconds ?? STANDARD.retryCapSeconds) < base) {
    throw new UserError(`RETRY_CAP_SECONDS must be at least RETRY_BASE_SECONDS, which is ${base}.`);
  }
  const rateLimitPerMinute = count(variables, 'RATE_LIMIT_PER_MINUTE', MAX_RATE_LIMIT);
  const sandboxRateLimitPerMinute = count(variables, 'SANDBOX_RATE_LIMIT_PER_MINUTE', MAX_RATE_LIMIT);
  const limit = rateLimitPerMinute ?? STANDARD.rateLimitPerMinute;
  if ((sandboxRateLimitPerMinute ?? 0) > limit) {
    throw new UserError(
      `SANDBOX_RATE_LIMIT_PER_MINUTE must be at most RATE_LIMIT_PER_MINUTE, which is ${limit}.`,
    );
  }
  return {
    port: port(variables),
    ...readDirectory(variables, cwd),
    retryBaseSeconds,
    retryCapSeconds,
    attemptTimeoutSeconds: seconds(variables, 'ATTEMPT_TIMEOUT_SECONDS', [0.1, 60]),
    graceSeconds: seconds(variables, 'GRACE_SECONDS', [30, 21_600]),
    lingerSeconds: seconds(variables, 'LINGER_SECONDS', [0, 3600]),
    checkEverySeconds: seconds(variables, 'CHECK_EVERY_SECONDS', [1, 604_800]),
    syncCooldownSeconds: seconds(variables, 'SYNC_COOLDOWN_SECONDS', [0, 3600]),
    noticeSeconds: seconds(variables, 'NOTICE_SECONDS', [1, 2_592_000]),
    rateLimitPerMinute,
    sandboxRateLimitPerMinute,
    dynamodbEndpoint: endpoint(variables, 'DYNAMODB_ENDPOINT'),
    sqsEndpoint: endpoint(variables, 'SQS_ENDPOINT'),
  };
}

function port(variables: Variables): number {
  const text = readVariable(variables, 'PORT');
  if (text === undefined) return 3000;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65_535) {
    throw new UserError(
      `PORT must be a whole number from 0 (any free port) to 65535, not ${JSON.stringify(text)}.`,
    );
  }
  return value;
}

function seconds(
  variables: Variables,
  name: (typeof TIMES)[number],
  [least, most]: [number, number],
): number | undefined {
  const text = readVariable(variables, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d*\.?\d+$/.test(text) || value < least || value > most) {
    throw new UserError(
      `${name} must be a number of seconds from ${least} to ${most}, not ${JSON.stringify(text)}.`,
    );
  }
  return value;
}

function count(variables: Variables, name: string, most: number): number | undefined {
  const text = readVariable(variables, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > most) {
    throw new UserError(`${name} must be a whole number from 1 to ${most}, not ${JSON.stringify(text)}.`);
  }
  return value;
}

function endpoint(variables: Variables, name: string): string | undefined {
  const text = readVariable(variables, name);
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new UserError(`${name} must be an http or https URL, not ${JSON.stringify(text)}.`);
  }
  return text;
}
