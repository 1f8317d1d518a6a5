import {
  DEFAULT_ATTEMPT_TIMEOUT_SECONDS,
  DEFAULT_GRACE_SECONDS,
  DEFAULT_RETRY_POLICY,
} from '../../functions/delivery/timing.ts';
import { DEFAULT_RATE_LIMITS, type RateLimits } from '../../functions/http/rate-limit.ts';
import { MAIL_BUDGETS, type MailLimits } from '../../functions/notices/mail.ts';
import { DEFAULT_LINGER_SECONDS } from '../../functions/tenancy/purge.ts';
import { type Context, flag, number, SECONDS, SettingError, text, WHOLE } from './context.ts';
import { readPolicy, type StagePolicy } from './stages.ts';

/** Concurrent batches of source checks. */
export const CHECK_WORKERS = 20;

/** An issuer of sessions, with its names of claims. */
interface OidcSettings {
  issuer: string;
  audience: string;
  organizationClaim?: string;
  roleClaim?: string;
  /** Space-separated, with `openid`. */
  scope?: string;
}

/**
 * Settings of a deployment from CDK context (`-c retryBaseSeconds=30`). The defaults are the specification's.
 */
export interface Settings {
  /** Stage (`stage`, default `dev`) and its policy (stages.ts). */
  policy: StagePolicy;
  retryBaseSeconds: number;
  retryCapSeconds: number;
  attemptTimeoutSeconds: number;
  /** Seconds past due after which a delivery's message counts as lost. */
  graceSeconds: number;
  /** Seconds in which delivery changes are collected before they are counted. */
  watchWindowSeconds: number;
  /** Seconds after a sandbox reset in which functions that began before may still use the old data. */
  lingerSeconds: number;
  /** Requests per minute by tier: `rateLimitSandbox`, `rateLimitStandard`, `rateLimitScale`. */
  rateLimits: RateLimits;
  /**
   * Requests per minute of all visitors of an organization, by tier: `visitorLimitSandbox` …; default: the
   * tier's rate limit.
   */
  visitorLimits: RateLimits;
  /**
   * Issuer of sessions instead of the stack's user pool: `oidcIssuer`, `oidcAudience`, two claim names and
   * the scope.
   */
  oidc?: OidcSettings;
  /** Seconds between two checks of a source. */
  checkEverySeconds: number;
  /**
   * Concurrent checks of one organization, each of which may occupy a worker; default: a quarter of the
   * workers.
   */
  checksPerOrganization: number;
  /** Seconds after a customer's request for a check in which another of the same source is rejected. */
  syncCooldownSeconds: number;
  /** Minimum seconds between two e-mails to admins about a source. */
  noticeSeconds: number;
  /** Recipients of e-mail about content per UTC day (`mailBudget`, `mailCeiling`). */
  mailLimits: Required<MailLimits>;
  /** Sender of e-mail, verified by SES itself or by its domain; without one nothing is sent. */
  mailFrom?: string;
  /** Receives alarms, in addition to subscribers of their topic. */
  alarmEmail?: string;
  /** Origin of the dashboard; without it requests with session cookies cannot write. */
  dashboardOrigin?: string;
  /**
   * Certificate of the dashboard's origin, which becomes the distribution's name (`dashboardCertificateArn`);
   * from ACM in us-east-1.
   */
  dashboardCertificateArn?: string;
  /** Domain prefix of the user pool's sign-in pages. */
  signInDomainPrefix?: string;
  /**
   * Custom domain of the API: `domainName`, and `certificateArn` of its ACM certificate in the same region.
   */
  domain?: { name: string; certificateArn: string };
  /**
   * Sender in the user agent of deliveries and source fetches: URL of a page (`senderUrl`; default: the
   * documentation at `domainName` or `dashboardOrigin`) and e-mail address (`senderContact`).
   */
  sender: { url?: string; contact?: string };
  /** Whether the API has a web ACL; default: in stage prod. */
  waf: boolean;
  /** The customer's KMS key in place of the stage's own (`keyArn`). */
  keyArn?: string;
  /** Whether the key encrypts environment variables of functions too (`encryptEnvironment`). */
  encryptsEnvironment: boolean;
  /** Base URL of the runbooks (`runbookUrl`), for links in alarms. */
  runbooks: string;
}

/** @throws SettingError naming the value, its range and the input */
export function readSettings(node: Context): Settings {
  const policy = readPolicy(node);
  const rateLimits = readLimits(node, 'rateLimit', DEFAULT_RATE_LIMITS);
  const settings: Settings = {
    policy,
    retryBaseSeconds: number(node, 'retryBaseSeconds', DEFAULT_RETRY_POLICY.baseSeconds, SECONDS(0, 3600)),
    // Waits use the queue message's visibility timeout, which SQS limits to 12 hours.
    retryCapSeconds: number(node, 'retryCapSeconds', DEFAULT_RETRY_POLICY.capSeconds, SECONDS(0, 43_200)),
    attemptTimeoutSeconds: number(
      node,
      'attemptTimeoutSeconds',
      DEFAULT_ATTEMPT_TIMEOUT_SECONDS,
      SECONDS(0.1, 60),
    ),
    graceSeconds: number(node, 'graceSeconds', DEFAULT_GRACE_SECONDS, SECONDS(30, 21_600)),
    watchWindowSeconds: number(node, 'watchWindowSeconds', 10, WHOLE('seconds', 0, 300)),
    lingerSeconds: number(node, 'lingerSeconds', DEFAULT_LINGER_SECONDS, SECONDS(0, 3600)),
    checkEverySeconds: number(node, 'checkEverySeconds', 3600, SECONDS(1, 604_800)),
    checksPerOrganization: number(
      node,
      'checksPerOrganization',
      Math.max(2, Math.floor(CHECK_WORKERS / 4)),
      WHOLE('checks', 2, CHECK_WORKERS / 2),
    ),
    syncCooldownSeconds: number(node, 'syncCooldownSeconds', 60, SECONDS(0, 3600)),
    noticeSeconds: number(node, 'noticeSeconds', 86_400, SECONDS(1, 2_592_000)),
    mailLimits: {
      organization: number(node, 'mailBudget', MAIL_BUDGETS['source.changed'].organization, RECIPIENTS),
      stage: number(node, 'mailCeiling', MAIL_BUDGETS['source.changed'].stage, RECIPIENTS),
    },
    rateLimits,
    visitorLimits: readLimits(node, 'visitorLimit', rateLimits),
    ...readOidc(node),
    ...readOrigin(node),
    ...readDashboardCertificate(node),
    ...readSignInDomain(node),
    ...readAddress(node, 'mailFrom'),
    ...readAddress(node, 'alarmEmail'),
    ...readDomain(node),
    sender: readSender(node),
    waf: flag(node, 'waf', policy.stage === 'prod'),
    ...readKey(node),
    encryptsEnvironment: flag(node, 'encryptEnvironment', false),
    runbooks: readRunbooks(node),
  };
  if (settings.retryCapSeconds < settings.retryBaseSeconds)
    throw new SettingError('context retryCapSeconds must not be less than retryBaseSeconds');
  const { sandbox, standard, scale } = settings.rateLimits;
  if (sandbox > Math.min(standard, scale))
    throw new SettingError('context rateLimitSandbox must be the lowest of the rate limits');
  if (settings.encryptsEnvironment && policy.lowCost && settings.keyArn === undefined)
    throw new SettingError('context encryptEnvironment goes with keyArn, or with lowCost=false');
  if (settings.mailFrom !== undefined && settings.dashboardOrigin === undefined)
    throw new SettingError('context mailFrom goes with dashboardOrigin, which e-mails link to');
  if (settings.dashboardCertificateArn !== undefined && settings.dashboardOrigin === undefined)
    throw new SettingError('context dashboardCertificateArn goes with dashboardOrigin, which it is for');
  if (settings.signInDomainPrefix !== undefined && settings.oidc !== undefined)
    throw new SettingError(
      "context signInDomainPrefix is for the stack's own user pool, not with oidcIssuer",
    );
  if (settings.mailFrom !== undefined && settings.oidc !== undefined)
    throw new SettingError(
      "context mailFrom goes with the stack's own user pool, whose admins e-mails are for, not with oidcIssuer",
    );
  return settings;
}

/** Environment variables of the sender in the user agent. */
export const senderEnvironment = ({ sender: { url, contact } }: Pick<Settings, 'sender'>) => ({
  ...(url === undefined ? {} : { SENDER_URL: url }),
  ...(contact === undefined ? {} : { SENDER_CONTACT: contact }),
});

/** Why a deployment sends no e-mail, for the operator; undefined if it does. */
export function reasonWithoutMailer({
  mailFrom,
  oidc,
}: Pick<Settings, 'mailFrom' | 'oidc'>): string | undefined {
  if (mailFrom !== undefined) return undefined;
  return oidc === undefined
    ? 'there is no sender. Give -c mailFrom=<address> and -c dashboardOrigin=<origin> to send it.'
    : "the mailer finds admins in the stack's own user pool, which a deployment with oidcIssuer does not have.";
}

const RECIPIENTS = WHOLE('recipients a day', 1, 1_000_000_000);
const REQUESTS = WHOLE('requests a minute', 1, 1_000_000_000);

/** Requests per minute by tier, from context such as `rateLimitScale`. */
const readLimits = (
  node: Context,
  prefix: 'rateLimit' | 'visitorLimit',
  standard: RateLimits,
): Settings['rateLimits'] => ({
  sandbox: number(node, `${prefix}Sandbox`, standard.sandbox, REQUESTS),
  standard: number(node, `${prefix}Standard`, standard.standard, REQUESTS),
  scale: number(node, `${prefix}Scale`, standard.scale, REQUESTS),
});

function readOidc(node: Context): Pick<Settings, 'oidc'> {
  const issuer = text(node, 'oidcIssuer');
  const audience = text(node, 'oidcAudience');
  const organizationClaim = text(node, 'oidcOrganizationClaim');
  const roleClaim = text(node, 'oidcRoleClaim');
  const scope = text(node, 'oidcScope');
  if (issuer === undefined && audience === undefined) {
    if (organizationClaim ?? roleClaim ?? scope)
      throw new SettingError('context oidcOrganizationClaim, oidcRoleClaim and oidcScope go with oidcIssuer');
    return {};
  }
  if (issuer === undefined || audience === undefined)
    throw new SettingError('context oidcIssuer and oidcAudience must be given together');
  if (URL.parse(issuer)?.protocol !== 'https:')
    throw new SettingError(`context oidcIssuer must be an https URL, not "${issuer}"`);
  // RFC 6749, 3.3; without `openid` there is no ID token (OpenID Connect Core 1.0, 3.1.2.1).
  if (
    scope !== undefined &&
    !/^(?=(.* )?openid( |$))[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(scope)
  )
    throw new SettingError(
      `context oidcScope must be scopes with a space between them, openid among them, not "${scope}"`,
    );
  return {
    oidc: {
      issuer,
      audience,
      ...(organizationClaim === undefined ? {} : { organizationClaim }),
      ...(roleClaim === undefined ? {} : { roleClaim }),
      ...(scope === undefined ? {} : { scope }),
    },
  };
}

function readSender(node: Context): Settings['sender'] {
  const given = text(node, 'senderUrl');
  // A parenthesis would end the comment that contains the URL (RFC 9110, 5.6.5).
  if (given !== undefined && (URL.parse(given)?.protocol !== 'https:' || /[()\\\s]/.test(given)))
    throw new SettingError(
      `context senderUrl must be an https URL without parentheses, backslashes or spaces, not "${given}"`,
    );
  const origin = readDomain(node).domain?.name;
  const site = origin === undefined ? readOrigin(node).dashboardOrigin : `https://${origin}`;
  const url = given ?? (site === undefined ? undefined : `${site}/api/docs`);
  const { senderContact: contact } = readAddress(node, 'senderContact');
  return { ...(url === undefined ? {} : { url }), ...(contact === undefined ? {} : { contact }) };
}

/** @throws SettingError when it is no e-mail address that fits in a header */
function readAddress<N extends 'mailFrom' | 'alarmEmail' | 'senderContact'>(
  node: Context,
  name: N,
): { [K in N]?: string } {
  const address = text(node, name);
  if (address !== undefined && !/^[^\s@<>"()\\]+@[^\s@<>"()\\]+$/.test(address))
    throw new SettingError(`context ${name} must be an e-mail address, not "${address}"`);
  return (address === undefined ? {} : { [name]: address }) as { [K in N]?: string };
}

/** Browsers send an origin without a path; anything longer never matches. */
function readOrigin(node: Context): Pick<Settings, 'dashboardOrigin'> {
  const given = text(node, 'dashboardOrigin');
  if (given === undefined) return {};
  const url = URL.parse(given);
  const secure = url?.protocol === 'https:' || url?.hostname === 'localhost';
  if (url === null || url.origin !== given || !secure)
    throw new SettingError(
      `context dashboardOrigin must be an https origin such as https://dashboard.example.com, not "${given}"`,
    );
  return { dashboardOrigin: given };
}

/** CloudFront accepts certificates of this region only. */
function readDashboardCertificate(node: Context): Pick<Settings, 'dashboardCertificateArn'> {
  const given = text(node, 'dashboardCertificateArn');
  if (given === undefined) return {};
  if (!/^arn:aws[a-z-]*:acm:us-east-1:\d{12}:certificate\/[\w-]+$/.test(given))
    throw new SettingError(
      `context dashboardCertificateArn must be the ARN of a certificate of ACM in us-east-1, not "${given}"`,
    );
  return { dashboardCertificateArn: given };
}

/** Without an alias: a policy's conditions and the tables need the key itself. */
function readKey(node: Context): Pick<Settings, 'keyArn'> {
  const given = text(node, 'keyArn');
  if (given === undefined) return {};
  if (!/^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/[\w-]+$/.test(given))
    throw new SettingError(`context keyArn must be the ARN of a key of KMS, not "${given}"`);
  return { keyArn: given };
}

/** Cognito's format (API reference, CreateUserPoolDomain). */
function readSignInDomain(node: Context): Pick<Settings, 'signInDomainPrefix'> {
  const given = text(node, 'signInDomainPrefix');
  if (given === undefined) return {};
  if (!/^(?!.*(aws|amazon|cognito))[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(given))
    throw new SettingError(
      `context signInDomainPrefix must be at most 63 lower-case letters, digits and hyphens, without aws, amazon or cognito, not "${given}"`,
    );
  return { signInDomainPrefix: given };
}

function readDomain(node: Context): Pick<Settings, 'domain'> {
  const name = text(node, 'domainName');
  const certificateArn = text(node, 'certificateArn');
  if (name === undefined && certificateArn === undefined) return {};
  if (name === undefined || certificateArn === undefined)
    throw new SettingError('context domainName and certificateArn must be given together');
  if (!/^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/.test(name))
    throw new SettingError(
      `context domainName must be a host name in lower case such as api.example.com, not "${name}"`,
    );
  if (!/^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/.test(certificateArn))
    throw new SettingError(
      `context certificateArn must be the ARN of a certificate of ACM, not "${certificateArn}"`,
    );
  return { domain: { name, certificateArn } };
}

/** Default: a path within the repository, which an operator can search for. */
function readRunbooks(node: Context): string {
  const given = text(node, 'runbookUrl');
  if (given === undefined) return 'docs/runbooks';
  if (URL.parse(given)?.protocol !== 'https:' || /[?#]|\/$/.test(given))
    throw new SettingError(
      `context runbookUrl must be an https URL without a slash at its end, not "${given}"`,
    );
  return given;
}
