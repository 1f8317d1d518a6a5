/**
 * Invocations of each function in one chain of messages, by function name. Lambda carries it in the X-Ray
 * trace header: the SDK sends the header with each request, SQS keeps it with the message, and the event
 * source mapping reads it.
 */
export type Lineage = ReadonlyMap<string, number>;

/**
 * Invocations in one chain after which Lambda stops the function (Lambda Developer Guide, "Use Lambda
 * recursive loop detection to prevent infinite loops").
 */
export const MAX_INVOCATIONS_IN_CHAIN = 16;

const FIELD = 'Lineage=';

/** @param header `Root=1-…;Parent=…;Sampled=0;Lineage=name:2|other:1`; undefined when a message has none */
export function parseLineage(header: string | undefined): Lineage {
  const field = header?.split(';').find((part) => part.startsWith(FIELD));
  const entries = field?.slice(FIELD.length).split('|') ?? [];
  return new Map(
    entries.flatMap((entry) => {
      const [, name, count] = /^(.+):(\d+)$/.exec(entry) ?? [];
      return name === undefined ? [] : [[name, Number(count)] as const];
    }),
  );
}

/** The trace header's field with its semicolon; empty for an empty lineage. */
export function formatLineage(lineage: Lineage): string {
  const entries = [...lineage].map(([name, count]) => `${name}:${count}`);
  return entries.length === 0 ? '' : `;${FIELD}${entries.join('|')}`;
}

/** Merges the lineages of an invocation's messages: the highest count of each function. */
export function mergeLineages(lineages: readonly Lineage[]): Lineage {
  const merged = new Map<string, number>();
  for (const lineage of lineages)
    for (const [name, count] of lineage) merged.set(name, Math.max(count, merged.get(name) ?? 0));
  return merged;
}

/** The lineage of what a running function sends. */
export const addInvocation = (lineage: Lineage, name: string): Lineage =>
  new Map([...lineage, [name, (lineage.get(name) ?? 0) + 1]]);
