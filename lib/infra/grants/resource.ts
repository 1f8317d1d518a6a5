import type { EnvironmentSchema, EnvironmentVariables } from '../../../functions/aws/config.ts';

/**
 * IAM actions by the environment variable of their resource: `{ SERVICE_TABLE: ['dynamodb:GetItem'] }`. An
 * index has its own key, `DELIVERIES_TABLE/index/due`.
 */
export type Access = Readonly<Record<string, readonly string[]>>;

/** Key of a resource that the function's event names. */
export const FROM_EVENT = 'event';

/**
 * A resource in a function's environment: the variable has its name, URL or ARN, and the role gets the code's
 * actions on it (access.json).
 */
export interface GrantedResource {
  /** Name, URL or ARN. */
  readonly environmentValue: string;
  /**
   * For a policy statement.
   * @param part such as `index/due`
   */
  arnsOf(part?: string): string[];
}

/**
 * Type of a function's environment in a construct: `{ SERVICE_TABLE: tables.service } satisfies
 * EnvironmentOf<typeof FanOutEnvironment>`.
 */
export type EnvironmentOf<S extends EnvironmentSchema> = {
  [K in keyof EnvironmentVariables<S>]: EnvironmentVariables<S>[K] | GrantedResource;
};

export const valuesOf = (environment: Record<string, string | GrantedResource>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : value.environmentValue,
    ]),
  );
