import type { Node } from 'constructs';

/** What a deployment may set, as CDK context (`-c retryBaseSeconds=30`). The defaults are the specification's. */
export interface Settings {
  retryBaseSeconds: number;
  retryCapSeconds: number;
  attemptTimeoutSeconds: number;
}

/** A context value is wrong. The message is one line for the person who deploys. */
export class SettingError extends Error {
  override name = 'SettingError';
}

/** @throws SettingError naming the value, its range and what was given */
export function readSettings(node: Pick<Node, 'tryGetContext'>): Settings {
  const seconds = (key: keyof Settings, standard: number, [least, most]: [number, number]): number => {
    const given: unknown = node.tryGetContext(key);
    if (given === undefined) return standard;
    const value = Number(given);
    if (given === '' || !(value >= least && value <= most))
      throw new SettingError(
        `context ${key} must be a number of seconds from ${least} to ${most}, not "${given}"`,
      );
    return value;
  };
  const settings = {
    retryBaseSeconds: seconds('retryBaseSeconds', 30, [0, 3600]),
    // A wait is held by the queue message's visibility, which SQS limits to 12 hours.
    retryCapSeconds: seconds('retryCapSeconds', 3600, [0, 43_200]),
    attemptTimeoutSeconds: seconds('attemptTimeoutSeconds', 10, [0.1, 60]),
  };
  if (settings.retryCapSeconds < settings.retryBaseSeconds)
    throw new SettingError('context retryCapSeconds must not be less than retryBaseSeconds');
  return settings;
}
