/**
 * The part of `oidc-provider` that the local run uses. The package has no declarations, and the community's
 * depend on all of Koa.
 */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  /** Content of a record; its members depend on the kind. */
  export interface Payload {
    uid?: string;
    grantId?: string;
    consumed?: unknown;
    [member: string]: unknown;
  }

  export interface Adapter {
    /** @param expiresIn seconds; without it the record does not expire */
    upsert(id: string, payload: Payload, expiresIn?: number): Promise<void>;
    find(id: string): Promise<Payload | undefined>;
    findByUid(uid: string): Promise<Payload | undefined>;
    findByUserCode(userCode: string): Promise<Payload | undefined>;
    consume(id: string): Promise<void>;
    destroy(id: string): Promise<void>;
    revokeByGrantId(grantId: string): Promise<void>;
  }

  export interface Client {
    clientId: string;
    redirectUris: string[];
    grantTypeAllowed(type: string): boolean;
  }

  export interface Grant {
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  }

  /** Koa's context of a request. */
  export interface Context {
    status: number;
    type: string;
    body: unknown;
    set(headers: Record<string, string>): void;
    oidc: {
      provider: Provider;
      client?: Client;
      session: { accountId?: string; grantIdFor(clientId: string): string | undefined };
    };
  }

  export interface Interaction {
    prompt: { name: string };
    params: Record<string, unknown>;
  }

  interface Prompts {
    remove(name: string): void;
  }

  export interface Configuration {
    adapter(kind: string): Adapter;
    claims: Record<string, string[]>;
    clientAuthMethods: string[];
    clientBasedCORS(context: Context, origin: string, client: Client): boolean;
    clients: Record<string, unknown>[];
    conformIdTokenClaims: boolean;
    cookies: { names: Record<'session' | 'interaction' | 'resume', string>; keys: string[] };
    expiresWithSession(): Promise<boolean>;
    features: Record<string, object>;
    findAccount(
      context: Context,
      id: string,
    ): Promise<
      { accountId: string; claims(use: string, scope: string): Promise<Record<string, unknown>> } | undefined
    >;
    interactions: { policy: Prompts; url(context: Context, interaction: { uid: string }): string };
    issueRefreshToken(context: Context, client: Client): Promise<boolean>;
    jwks: { keys: object[] };
    loadExistingGrant(context: Context): Promise<Grant | undefined>;
    renderError(context: Context, problem: Record<string, string>): Promise<void>;
    responseTypes: string[];
    rotateRefreshToken: boolean;
    routes: Record<string, string>;
    scopes: string[];
    ttl: Record<string, number>;
  }

  export class Provider {
    constructor(issuer: string, configuration: Configuration);
    readonly Grant: {
      new (of: { clientId: string; accountId: string }): Grant;
      find(id: string): Promise<Grant | undefined>;
    };
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    /** @throws errors.SessionNotFound */
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    /**
     * Redirects the browser.
     * @throws errors.SessionNotFound
     */
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: { login: { accountId: string; amr?: string[] } },
    ): Promise<void>;
    on(event: 'error', listener: (error: unknown) => void): this;
    on(event: 'server_error', listener: (context: Context, error: unknown) => void): this;
  }

  export const interactionPolicy: { base(): Prompts };

  export namespace errors {
    class SessionNotFound extends Error {}
  }
}
