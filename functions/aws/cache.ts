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
    const entry = this.#values.get(key);
    return entry !== undefined && now.getTime() < entry.until ? entry.value : undefined;
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

/** Loads one value once, also for concurrent callers. A failed load is repeated by the next caller. */
export function loadOnce<V>(load: () => Promise<V>): () => Promise<V> {
  let loaded: Promise<V> | undefined;
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}

/**
 * Keeps one value that is loaded again from time to time. Concurrent callers share a load.
 * @param terms.freshMs age at which the value is loaded again
 * @param terms.retryMs time after a failed load in which the known value counts as fresh; without it, an old
 * value is not used
 */
export function refreshedValue<V>(
  load: () => Promise<V>,
  { freshMs, retryMs, now }: { freshMs: number; retryMs?: number; now: () => number },
) {
  let loaded: { value: V } | undefined;
  let freshUntil = Number.NEGATIVE_INFINITY;
  let loading: Promise<V> | undefined;

  async function startLoad(): Promise<V> {
    // The time before the load: a change during it may be missing from the value.
    const startedAt = now();
    const value = await load();
    loaded = { value };
    freshUntil = startedAt + freshMs;
    return value;
  }

  /** @throws the error of the load */
  function reload(): Promise<V> {
    loading ??= startLoad().finally(() => {
      loading = undefined;
    });
    return loading;
  }

  return {
    /** @throws the error of a load before the value is known, or when an old one may not be used */
    async get(): Promise<V> {
      if (loaded !== undefined && now() < freshUntil) return loaded.value;
      try {
        return await reload();
      } catch (error) {
        if (loaded === undefined || retryMs === undefined) throw error;
        freshUntil = now() + retryMs;
        return loaded.value;
      }
    },
    reload,
    /** The value of the last load; undefined before the first. */
    peek: (): V | undefined => loaded?.value,
  };
}

/** Caches loaded values for a time. `undefined` is not cached: the item may just have been created. */
export function memoizeFor<K, V>(
  load: (key: K) => Promise<V | undefined>,
  terms: { capacity: number; freshMs: number },
): (key: K, now: Date) => Promise<V | undefined> {
  const cached = new TimedCache<K, V>(terms);
  return async (key, now) => {
    const fresh = cached.get(key, now);
    if (fresh !== undefined) return fresh;
    const value = await load(key);
    if (value !== undefined) cached.set(key, value, now);
    return value;
  };
}
