/** Lets through what has room together, the others in their order as turns end. */
export function turns(room: number): (size: number) => Promise<Disposable> {
  const waiting: { size: number; begin: () => void }[] = [];
  let free = room;
  const admit = () => {
    for (let [next] = waiting; next !== undefined && next.size <= free; [next] = waiting) {
      waiting.shift();
      free -= next.size;
      next.begin();
    }
  };
  return async (size) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push({ size, begin: resolve });
    admit();
    await promise;
    return {
      [Symbol.dispose]: () => {
        free += size;
        admit();
      },
    };
  };
}
