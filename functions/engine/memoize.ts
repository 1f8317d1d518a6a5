/**
 * Loads each thing once, also for callers that ask at the same time. A failed load is not repeated either.
 * @param keyOf what tells things apart that are not equal by themselves
 */
export function memoize<T, V>(
  load: (of: T) => Promise<V>,
  keyOf: (of: T) => unknown = (of) => of,
): (of: T) => Promise<V> {
  const loaded = new Map<unknown, Promise<V>>();
  return (of) => {
    const key = keyOf(of);
    const value = loaded.get(key) ?? load(of);
    loaded.set(key, value);
    return value;
  };
}
