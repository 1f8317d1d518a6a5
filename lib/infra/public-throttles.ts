import type { MethodDeploymentOptions } from 'aws-cdk-lib/aws-apigateway';
import type { Route } from '../../functions/http/route.ts';
import type { StagePolicy } from './stages.ts';

/** Classes of methods without credentials, and the share of the stage's throttle for each class. */
const PUBLIC_SHARES = {
  /** Visitors of web widgets, whose tokens any page gives out. */
  visitor: 0.2,
  preflight: 0.05,
  signIn: 0.1,
  documentation: 0.1,
} as const;
export type PublicClass = keyof typeof PUBLIC_SHARES;

/** A gateway method; without a class its callers authenticate with an API key or a session. */
export interface ServedMethod {
  method: string;
  /** Below the stage, `/api`. */
  path: string;
  publicClass?: PublicClass | undefined;
}

/** A route's class follows from its authentication mode. */
export const publicClassOf = ({ visitor }: Route): PublicClass | undefined =>
  visitor ? 'visitor' : undefined;

/**
 * Throttles public methods, so that a flood of them leaves at least half of the stage's throttle to callers
 * with keys and sessions. Each method has its own bucket, so a class's methods divide its share. Unknown
 * paths call no function, and unknown methods one that ends in a millisecond: they keep the stage's default.
 * @param settings of all methods: a method's own settings replace the stage's
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
        // A burst of 0 would never admit a request.
        throttlingBurstLimit: Math.max(1, Math.floor(burst * share)),
      };
      return methods.map(({ path, method }) => [`${path}/${method}`, options]);
    }),
  );
}
