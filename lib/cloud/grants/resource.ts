/**
 * A resource that a function finds by its environment. Put in place of a variable's value, it gives the variable its name, and the function's role
 * the actions that the function's code takes on it (access.json).
 */
export interface GrantedResource {
  /** What the function knows it by: a name, URL or ARN. */
  readonly environmentValue: string;
  /** What a permission names. @param part of it: `index/due` */
  arnsOf(part?: string): string[];
}

/** A function's environment as a construct gives it: `{ SERVICE_TABLE: tables.service } satisfies EnvironmentOf<FanOutEnvironment>`. */
export type EnvironmentOf<E> = { [K in keyof E]: E[K] | GrantedResource };

export const valuesOf = (environment: Record<string, string | GrantedResource>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : value.environmentValue,
    ]),
  );
