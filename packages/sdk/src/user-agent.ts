/** Of the package: that of package.json in the repository, which a test compares. */
export const VERSION = '0.1.0';

interface Runtime {
  navigator?: { userAgent?: string };
  process?: { versions?: { node?: string } };
}

/**
 * Version of the package and the runtime, for example `Node.js/24`, `Deno/2.9.6` or `Bun/1.4.4`. Node.js has
 * a `navigator` since version 21.
 */
export function userAgent({ navigator, process }: Runtime = globalThis as Runtime): string {
  const runtime = navigator?.userAgent ?? `Node.js/${process?.versions?.node ?? 'unknown'}`;
  return `conversation-service-sdk/${VERSION} ${runtime}`;
}
