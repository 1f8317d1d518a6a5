/*
 * What an instance keeps between its calls, and a call between its steps.
 */

/** A map of limited size: the entry that was set first makes room for a new one. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #capacity: number;

  constructor(capacity: number) {
    super();
    this.#capacity = capacity;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    const [oldest] = this.size < this.#capacity ? [] : this.keys();
    if (oldest !== undefined) this.delete(oldest);
    return super.set(key, value);
  }
}

/** A bounded map whose values count for a time. */
export class TimedCache<K, V> {
  readonly #values: BoundedMap<K, { value: V; until: number }>;
  readonly #freshMs: number;

  /** @param freshMs age from which a value does not count any more */
  constructor({ capacity, freshMs }: { capacity: number; freshMs: number }) {
    this.#values = new BoundedMap(capacity);
    this.#freshMs = freshMs;
  }

  get(key: K, now: Date): V | undefined {
    const known = this.#values.get(key);
    return known !== undefined && now.getTime() < known.until ? known.value : undefined;
  }

  set(key: K, value: V, now: Date): void {
    this.#values.set(key, { value, until: now.getTime() + this.#freshMs });
  }

  delete(key: K): void {
    this.#values.delete(key);
  }
}

/**
 * Loads each value once, also for concurrent callers. A failed load is not repeated.
 * @param getKey tells arguments apart that are not equal by identity
 */
export function memoize<T, V>(
  load: (of: T) => Promise<V>,
  getKey: (of: T) => unknown = (of) => of,
): (of: T) => Promise<V> {
  const loaded = new Map<unknown, Promise<V>>();
  return (of) => {
    const key = getKey(of);
    const value = loaded.get(key) ?? load(of);
    loaded.set(key, value);
    return value;
  };
}

/** Caches loaded values for a time. `undefined` is not cached: the item may just have been created. */
export function memoizeFor<K, V>(
  load: (key: K) => Promise<V | undefined>,
  terms: { capacity: number; freshMs: number },
): (key: K, now: Date) => Promise<V | undefined> {
  const cached = new TimedCache<K, V>(terms);
  return async (key, now) => {
    const known = cached.get(key, now);
    if (known !== undefined) return known;
    const value = await load(key);
    if (value !== undefined) cached.set(key, value, now);
    return value;
  };
}
