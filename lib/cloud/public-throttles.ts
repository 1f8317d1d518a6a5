import type { MethodDeploymentOptions } from 'aws-cdk-lib/aws-apigateway';
import type { Route } from '../../functions/platform/route.ts';
import type { StagePolicy } from './stages.ts';

/**
 * Classes of methods that need no credentials, and the share of the stage's throttle that all methods of a
 * class have together.
 */
const PUBLIC_SHARES = {
  /** Visitors of web widgets, whose tokens any page hands out. */
  visitor: 0.2,
  preflight: 0.05,
  signIn: 0.1,
  documentation: 0.1,
} as const;
export type PublicClass = keyof typeof PUBLIC_SHARES;

/** A method of the gateway; without a class its callers authenticate with an API key or a session. */
export interface ServedMethod {
  method: string;
  path: string;
  publicClass?: PublicClass | undefined;
}

/** The class of a route of the table: its kind of authentication decides. */
export const publicClassOf = ({ visitor }: Route): PublicClass | undefined =>
  visitor ? 'visitor' : undefined;

/**
 * Throttles of the public methods, so that a flood of them leaves at least half of the stage's throttle to
 * callers with keys and sessions. Each method has a bucket of its own, so the methods of a class divide its
 * share. The answers of mocks to unknown paths and methods keep the stage's default: they call no function.
 * @param settings that the other methods have as well: those of a method replace the stage's
 */
export function publicThrottles(
  served: readonly ServedMethod[],
  { rate, burst }: StagePolicy['throttle'],
  settings: Pick<MethodDeploymentOptions, 'loggingLevel'>,
): Record<string, MethodDeploymentOptions> {
  const byClass = Map.groupBy(served, ({ publicClass }) => publicClass);
  return Object.fromEntries(
    [...byClass].flatMap(([publicClass, methods]) => {
      if (publicClass === undefined) return [];
      const share = PUBLIC_SHARES[publicClass] / methods.length;
      const options: MethodDeploymentOptions = {
        ...settings,
        throttlingRateLimit: Math.round(rate * share * 100) / 100,
        // With none at once a bucket would never hold a whole token.
        throttlingBurstLimit: Math.max(1, Math.floor(burst * share)),
      };
      return methods.map(({ path, method }) => [`${path}/${method}`, options]);
    }),
  );
}
