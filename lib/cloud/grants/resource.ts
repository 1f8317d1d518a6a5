/**
 * The IAM actions that code may take, by the environment variable that names the resource:
 * `{ SERVICE_TABLE: ['dynamodb:GetItem'] }`. An index has its own key, `DELIVERIES_TABLE/index/due`.
 */
export type Access = Readonly<Record<string, readonly string[]>>;

/** The key of a resource that the function's event names, not its environment. */
export const FROM_EVENT = 'event';

/**
 * A resource in a function's environment. The variable gets its name, URL or ARN, and the function's role
 * gets the actions that the code takes on it (access.json).
 */
export interface GrantedResource {
  /** Name, URL or ARN. */
  readonly environmentValue: string;
  /** For a policy statement. @param part of the resource, such as `index/due` */
  arnsOf(part?: string): string[];
}

/**
 * A function's environment in a construct: `{ SERVICE_TABLE: tables.service } satisfies
 * EnvironmentOf<FanOutEnvironment>`.
 */
export type EnvironmentOf<E> = { [K in keyof E]: E[K] | GrantedResource };

export const valuesOf = (environment: Record<string, string | GrantedResource>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : value.environmentValue,
    ]),
  );
