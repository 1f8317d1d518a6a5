import * as z from 'zod/mini';

/*
 * Reads the functions' environment; no other file reads `process.env`. Schemas of routes are here, a worker's
 * schema is in its file. The stack's `environment` must satisfy the same types, so a missing variable fails
 * to compile.
 */

/** The environment variables that a schema reads. */
export type EnvironmentSchema = z.ZodMiniType;
export type EnvironmentVariables<S extends EnvironmentSchema> = z.input<S>;

/** A name, URL or ARN. */
export const NonEmptyText = z.string().check(z.minLength(1));
/** Fractions are allowed, signs and exponents are not. */
export const DecimalNumber = z.pipe(
  z.string().check(z.regex(/^\d+(\.\d+)?$/, { error: 'must be a number' })),
  z.transform(Number),
);
/** At least 1. */
export const WholeNumber = z.pipe(
  z.string().check(z.regex(/^[1-9]\d*$/, { error: 'must be a whole number' })),
  z.transform(Number),
);

/** Every endpoint function. */
export const ApiEnvironment = z.object({
  SERVICE_TABLE: NonEmptyText,
  OUTBOX_TABLE: NonEmptyText,
  DELIVERIES_TABLE: NonEmptyText,
  RATE_TABLE: NonEmptyText,
  /** Requests a minute for each tier. */
  RATE_LIMIT_SANDBOX: WholeNumber,
  RATE_LIMIT_STANDARD: WholeNumber,
  RATE_LIMIT_SCALE: WholeNumber,
  /** ARN of the secret with the keyring that seals cursors. */
  CURSOR_KEYS: NonEmptyText,
  /** ARN of the secret with the keyring that signing secrets are derived from. */
  SIGNING_KEYS: NonEmptyText,
});

/** Requests per minute of all visitors of an organization, by its tier. */
export const VisitorEnvironment = z.object({
  VISITOR_LIMIT_SANDBOX: WholeNumber,
  VISITOR_LIMIT_STANDARD: WholeNumber,
  VISITOR_LIMIT_SCALE: WholeNumber,
});

export const StatsEnvironment = z.object({ LEDGER_TABLE: NonEmptyText });

/** Which session tokens are accepted. */
export const SessionEnvironment = z.object({
  /** Issuer of the OpenID Connect tokens, exactly as in `iss`. */
  OIDC_ISSUER: z.url(),
  /** Client of the tokens (`aud`). */
  OIDC_AUDIENCE: NonEmptyText,
  /** Claims that name the organization and the role. */
  OIDC_ORGANIZATION_CLAIM: NonEmptyText,
  OIDC_ROLE_CLAIM: NonEmptyText,
  /**
   * Origin of the dashboard, required for writes with a session cookie; without it such writes are refused.
   */
  DASHBOARD_ORIGIN: z.optional(z.url()),
});
export type SessionEnvironment = z.input<typeof SessionEnvironment>;

export const SignInEnvironment = z.extend(SessionEnvironment, {
  /** Requested scopes, separated by spaces. */
  OIDC_SCOPE: NonEmptyText,
});
export type SignInEnvironment = z.input<typeof SignInEnvironment>;

/** Functions of the organization settings. */
export const OrganizationEnvironment = z.object({
  /** Whether the deployment sends e-mail. */
  MAILER: z.enum(['on', 'off']),
});

/** Sender details in the user agent of requests to customers' hosts. */
export const SenderEnvironment = z.object({
  /** Page that explains the requests to the owner of a host. */
  SENDER_URL: z.optional(z.url()),
  /** Contact for the owner of a host. */
  SENDER_CONTACT: z.optional(NonEmptyText),
});

export const UsageEnvironment = z.object({ USAGE_TABLE: NonEmptyText });

export const KnowledgeEnvironment = z.object({ KNOWLEDGE_TABLE: NonEmptyText });

export const SyncEnvironment = z.object({
  /** Minimum seconds between two requested checks of a source. */
  SYNC_COOLDOWN_SECONDS: DecimalNumber,
});

/** The environment is incomplete or invalid: a defect of the deployment, found when the function loads. */
export class ConfigurationError extends Error {
  override name = 'ConfigurationError';
}

/** @throws ConfigurationError that names each variable at fault */
export function readEnvironment<S extends z.ZodMiniType>(
  schema: S,
  source: NodeJS.ProcessEnv = process.env,
): z.output<S> {
  // Without compilation, which takes longer than this one check.
  const parsed = schema.safeParse(source, { jitless: true });
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new ConfigurationError(`environment variables are missing or wrong: ${faults.join('; ')}`);
}

/**
 * Which receivers this deployment can reach. Only functions in a dual-stack VPC have a route to IPv6
 * (`IPV6_RECEIVERS`). Loopback addresses are for the local run, and no deployed function can enable them:
 * Lambda sets `AWS_EXECUTION_ENV` and does not allow overriding it, and there the setting is refused.
 * @throws ConfigurationError when `LOOPBACK_RECEIVERS` is present in Lambda
 */
export function reachableReceivers(
  source: NodeJS.ProcessEnv = process.env,
): Record<'loopback' | 'ipv6', 'refuse' | 'allow'> {
  const read = (variable?: string) => (variable === 'allow' ? 'allow' : 'refuse');
  const reachable = { loopback: read(source.LOOPBACK_RECEIVERS), ipv6: read(source.IPV6_RECEIVERS) } as const;
  if (reachable.loopback === 'allow' && source.AWS_EXECUTION_ENV?.startsWith('AWS_Lambda_') !== false)
    throw new ConfigurationError('LOOPBACK_RECEIVERS is for the local run and must not be set in Lambda');
  return reachable;
}

/**
 * What a function logs and measures, which every function of the stack has. Tests may leave it out: they
 * have no metrics then.
 */
export const telemetry = (
  {
    FUNCTION_NAME: functionName = '',
    LOG_LEVEL: logLevel = '',
    METRICS_NAMESPACE: metricsNamespace,
  }: NodeJS.ProcessEnv = process.env,
) => ({ functionName, logLevel, metricsNamespace });

export const functionRegion = ({ AWS_REGION = '' }: NodeJS.ProcessEnv = process.env): string => AWS_REGION;

/**
 * `user-agent` of requests to receivers and sources, with a comment for the owner of the host (RFC 9110,
 * 10.1.5).
 */
export function outboundUserAgent(
  product: 'ConversationService-Webhooks' | 'ConversationService-Knowledge',
  { SENDER_URL: url, SENDER_CONTACT: contact }: z.infer<typeof SenderEnvironment>,
): string {
  const comment = [...(url === undefined ? [] : [`+${url}`]), ...(contact === undefined ? [] : [contact])];
  return comment.length === 0 ? `${product}/1.0` : `${product}/1.0 (${comment.join('; ')})`;
}
