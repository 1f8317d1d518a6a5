import { createResources } from './resources.ts';
import { createTransport, type TransportOptions } from './transport.ts';

export interface ClientOptions extends Omit<TransportOptions, 'credential'> {
  /** `ck_live_…`, or `ck_sandbox_…` for the sandbox. */
  apiKey: string;
}

export type Client = ReturnType<typeof createResources>;

/**
 * A client of the API.
 * @throws TypeError in a browser, where the key would be everybody's, and for a `baseUrl` without encryption
 * @example const client = createClient({ apiKey, baseUrl: 'https://api.example.com' });
 */
export function createClient({ apiKey, ...options }: ClientOptions): Client {
  if ('document' in globalThis)
    throw new TypeError(
      'An API key must not be in a browser. Use a visitor token (conversation-service-sdk/widget).',
    );
  return createResources(createTransport({ ...options, credential: apiKey }));
}
