import * as z from 'zod';
import {
  computeRedeliveryGroup,
  getLaneFacts,
  LARGEST_GROUP,
  mapLanes,
  type StageClass,
} from '../../functions/delivery/lanes.ts';
import {
  DEFAULT_ATTEMPT_TIMEOUT_SECONDS,
  DEFAULT_GRACE_SECONDS,
  DEFAULT_RETRY_POLICY,
} from '../../functions/delivery/timing.ts';
import { DEFAULT_RATE_LIMITS } from '../../functions/http/rate-limit.ts';
import { MAIL_BUDGETS } from '../../functions/notices/mail.ts';
import { DEFAULT_LINGER_SECONDS } from '../../functions/tenancy/purge.ts';
import { SettingError } from './context.ts';
import { CLASSES, RETENTION_DAYS, type StagePolicy } from './stages.ts';

/** Concurrent batches of source checks. */
export const CHECK_WORKERS = 20;
const MOST = 1_000_000_000;

const number = (
  what: string,
  least: number,
  most: number,
  type: typeof z.number | typeof z.int = z.number,
) => {
  const error = `must be ${what} from ${least} to ${most}`;
  return type(error).min(least, { error, abort: true }).max(most, { error, abort: true });
};
const seconds = (least: number, most: number, standard: number) =>
  number('a number of seconds', least, most).default(standard);
const whole = (what: string, least: number, most: number) =>
  number(`a whole number of ${what}`, least, most, z.int);
const perMinute = () => whole('requests a minute', 1, MOST);
const recipients = (standard: number) => whole('recipients a day', 1, MOST).default(standard);
const text = (what: string, format: RegExp) => z.string(`must be ${what}`).regex(format, `must be ${what}`);
const flag = z.boolean('must be true or false');
/** What a stage has, or a text that says that it has none. */
const orNone = <T extends z.ZodType>(what: string, schema: T) =>
  z.union([z.literal('none').transform(() => undefined), schema], `must be ${what}, or 'none'`);

// It is also in a header.
const Email = text('an e-mail address', /^[^\s@<>"()\\]+@[^\s@<>"()\\]+$/);
const certificate = (where: string, region: string) =>
  text(
    `the ARN of a certificate of ACM${where}`,
    new RegExp(`^arn:aws[a-z-]*:acm:${region}:\\d{12}:certificate/[\\w-]+$`),
  );
const httpsUrl = (what: string, excluded: RegExp) =>
  z.string(`must be ${what}`).refine((url) => isHttps(url) && !excluded.test(url), `must be ${what}`);
const isHttps = (url: string): boolean => URL.parse(url)?.protocol === 'https:';

/** What a deployment would remove if its stage file forgot it. */
const FORGETTABLE = {
  /** Custom regional domain of the API, and its certificate in the same region. */
  domain: orNone(
    'an object with name and certificateArn',
    z.strictObject({
      name: text(
        'a host name in lower case such as api.example.com',
        /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/,
      ),
      certificateArn: certificate('', '[a-z0-9-]+'),
    }),
  ),
  /** Origin of the dashboard, without which requests with session cookies cannot write. */
  dashboard: orNone(
    'an object with origin',
    z.strictObject({
      // Browsers send an origin without a path; anything longer never matches.
      origin: z.string().refine((given) => {
        const url = URL.parse(given);
        return url?.origin === given && (isHttps(given) || url.hostname === 'localhost');
      }, 'must be an https origin such as https://dashboard.example.com'),
      /** Makes the origin's host a name of the distribution. CloudFront accepts this region only. */
      certificateArn: certificate(' in us-east-1', 'us-east-1').optional(),
    }),
  ),
  /** Receives alarms, in addition to subscribers of their topic. */
  alarmEmail: orNone('an e-mail address', Email),
  /** Sender of e-mail, verified by SES itself or by its domain. */
  mailFrom: orNone('an e-mail address', Email),
  /** Issuer of sessions instead of the stage's user pool. */
  oidc: orNone(
    'an object with issuer and audience',
    z.strictObject({
      issuer: httpsUrl('an https URL', /\s/),
      audience: z.string().min(1, 'must not be empty'),
      organizationClaim: z.string().min(1, 'must not be empty').optional(),
      roleClaim: z.string().min(1, 'must not be empty').optional(),
      // RFC 6749, 3.3; without `openid` there is no ID token (OpenID Connect Core 1.0, 3.1.2.1).
      scope: text(
        'scopes with a space between them, openid among them',
        /^(?=(.* )?openid( |$))[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/,
      ).optional(),
    }),
  ),
};

/** The other settings, with the defaults and bounds of a class (docs/reference/configuration.md). */
function settingsOf(stageClass: StageClass) {
  const { bounds, alarms, lowCost, logRetentionDays, throttle, reserves, waf } = CLASSES[stageClass];
  const { sandbox, standard, scale } = DEFAULT_RATE_LIMITS;
  const [shortest, longest] = bounds.logRetentionDays;
  const retentions = RETENTION_DAYS.filter((days) => days >= shortest && days <= longest);
  return {
    env: z
      .strictObject({
        account: text('the 12 digits of an account', /^\d{12}$/),
        region: text('a region such as eu-central-1', /^[a-z]{2}(-[a-z]+)+-\d$/),
      })
      .optional(),
    // Without an alias: a policy's conditions and the tables need the key itself.
    keyArn: text('the ARN of a key of KMS', /^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/[\w-]+$/).optional(),
    encryptEnvironment: flag.default(false),
    lowCost:
      stageClass === 'development'
        ? flag.default(lowCost)
        : z
            .literal(false, `must be false in class ${stageClass}, which bounds its concurrency`)
            .default(false),
    bootstrap: z
      .strictObject({
        qualifier: text('at most 10 letters and digits', /^[A-Za-z0-9]{1,10}$/).optional(),
        permissionsBoundary: text('the name of an IAM policy', /^[\w+=,.@-]{1,128}$/).optional(),
      })
      .prefault({}),
    release: z.enum(['gradual', 'at-once'], "must be 'gradual' or 'at-once'").default('gradual'),
    alarms:
      stageClass === 'production'
        ? z.literal(true, 'must be true in production, where operators must be notified').default(true)
        : flag.default(alarms),
    runbookUrl: httpsUrl('an https URL without a slash at its end', /[?#]|\/$/).default('docs/runbooks'),
    logRetentionDays: z
      .literal(retentions, `must be one of ${retentions.join(', ')} in class ${stageClass}`)
      .default(logRetentionDays),
    waf: flag.default(waf),
    /** Logs of the requests that the web ACL blocks. */
    wafLogs: flag.default(false),
    /** Deliveries and source fetches from fixed addresses, over IPv6 too. */
    fixedEgress: flag.default(false),
    throttle: z
      .strictObject({
        rate: whole('requests a second', ...bounds.throttle).default(throttle.rate),
        burst: whole('requests at once', ...bounds.throttle).optional(),
      })
      .prefault({})
      .transform(({ rate, burst = Math.max(throttle.burst, rate) }) => ({ rate, burst }))
      .refine(({ rate, burst }) => burst >= rate, 'must have a burst of at least its rate'),
    rateLimits: z
      .strictObject({
        sandbox: perMinute().default(sandbox),
        standard: perMinute().default(standard),
        scale: perMinute().default(scale),
      })
      .prefault({})
      .refine(
        (limits) => limits.sandbox <= Math.min(limits.standard, limits.scale),
        'must be lowest for sandbox',
      ),
    visitorLimits: z
      .strictObject({ sandbox: perMinute(), standard: perMinute(), scale: perMinute() })
      .partial()
      .prefault({}),
    retryBaseSeconds: seconds(0, 3600, DEFAULT_RETRY_POLICY.baseSeconds),
    // Waits use the queue message's visibility timeout, which SQS limits to 12 hours.
    retryCapSeconds: seconds(0, 43_200, DEFAULT_RETRY_POLICY.capSeconds),
    attemptTimeoutSeconds: seconds(0.1, 60, DEFAULT_ATTEMPT_TIMEOUT_SECONDS),
    graceSeconds: seconds(30, 21_600, DEFAULT_GRACE_SECONDS),
    watchWindowSeconds: whole('seconds', 0, 300).default(10),
    lingerSeconds: seconds(0, 3600, DEFAULT_LINGER_SECONDS),
    dispatchers: z
      .strictObject(
        mapLanes((lane) =>
          whole('batches at once', ...bounds.dispatchers).default(getLaneFacts(lane).dispatchers[stageClass]),
        ),
      )
      .prefault({}),
    redeliveryGroup: whole('deliveries of a redelivery job at a time', 1, LARGEST_GROUP).optional(),
    reserveConcurrency: flag.default(reserves),
    /** In the user agent of deliveries and source fetches. */
    sender: z
      .strictObject({
        // A parenthesis would end the comment that contains the URL (RFC 9110, 5.6.5).
        url: httpsUrl('an https URL without parentheses, backslashes or spaces', /[()\\\s]/).optional(),
        contact: Email.optional(),
      })
      .prefault({}),
    checkEverySeconds: seconds(1, 604_800, 3600),
    // Each of them may occupy a worker.
    checksPerOrganization: whole('checks', 2, CHECK_WORKERS / 2).default(Math.floor(CHECK_WORKERS / 4)),
    syncCooldownSeconds: seconds(0, 3600, 60),
    noticeSeconds: seconds(1, 2_592_000, 86_400),
    mailLimits: z
      .strictObject({
        organization: recipients(MAIL_BUDGETS['source.changed'].organization),
        stage: recipients(MAIL_BUDGETS['source.changed'].stage),
      })
      .prefault({}),
    /** Cognito's format (API reference, CreateUserPoolDomain). */
    signInDomainPrefix: text(
      'at most 63 lower-case letters, digits and hyphens, without aws, amazon or cognito',
      /^(?!.*(aws|amazon|cognito))[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
    ).optional(),
  };
}

const ByClass = z.discriminatedUnion(
  'class',
  [
    z.strictObject({
      class: z.literal('development'),
      ...settingsOf('development'),
      ...z.object(FORGETTABLE).partial().shape,
    }),
    z.strictObject({ class: z.literal('staging'), ...settingsOf('staging'), ...FORGETTABLE }),
    z.strictObject({ class: z.literal('production'), ...settingsOf('production'), ...FORGETTABLE }),
  ],
  "must be 'development', 'staging' or 'production'",
);

export const SETTING_NAMES = Object.keys(ByClass.options[0].shape);

/** Content of `lib/stages/<name>.ts`: the stage's class and what differs from the class's defaults. */
export type StageFile = z.input<typeof ByClass>;

const Consistent = ByClass.superRefine((settings, context) => {
  const refuse = (name: keyof typeof settings, message: string) =>
    context.addIssue({ code: 'custom', path: [name], message, input: settings[name] });
  const { retryBaseSeconds, retryCapSeconds, mailFrom, dashboard, oidc, signInDomainPrefix } = settings;
  if (settings.encryptEnvironment && settings.lowCost && settings.keyArn === undefined)
    refuse('encryptEnvironment', 'must go with keyArn, or without lowCost');
  if (settings.alarmEmail !== undefined && !settings.alarms)
    refuse('alarmEmail', "must be 'none' in a stage without alarms");
  if (settings.wafLogs && !settings.waf) refuse('wafLogs', 'must go with waf, the web ACL that they are of');
  if (retryCapSeconds < retryBaseSeconds) refuse('retryCapSeconds', 'must not be less than retryBaseSeconds');
  if (mailFrom !== undefined && dashboard === undefined)
    refuse('mailFrom', 'must go with a dashboard, which e-mails link to');
  if (mailFrom !== undefined && oidc !== undefined)
    refuse('mailFrom', "must be 'none' with oidc: e-mails are for admins in the stage's own user pool");
  if (signInDomainPrefix !== undefined && oidc !== undefined)
    refuse('signInDomainPrefix', "must be absent with oidc: it is for the stage's own user pool");
});

export type Settings = ReturnType<typeof toSettings>;

function toSettings(stage: string, parsed: z.output<typeof ByClass>) {
  const { env, bootstrap, alarms, lowCost, logRetentionDays, throttle, dispatchers, ...settings } = parsed;
  const { release, reserveConcurrency, redeliveryGroup, domain, dashboard, sender } = settings;
  const { readers, keepsData, logLevel, release: gradual } = CLASSES[settings.class];
  const dispatch = Object.values(dispatchers).reduce((sum, count) => sum + count, 0);
  const policy: StagePolicy = {
    stage,
    env,
    bootstrap,
    keepsData,
    logLevel,
    logRetentionDays,
    alarms,
    lowCost,
    dispatchers,
    redeliveryGroup: redeliveryGroup ?? computeRedeliveryGroup(dispatchers.slow),
    windowSeconds: mapLanes((lane) => getLaneFacts(lane).windowSeconds?.[settings.class] ?? 0),
    reserved: reserveConcurrency ? { ...readers, dispatch } : undefined,
    throttle,
    release: gradual,
    rollsBack: release === 'gradual' && gradual !== 'at-once' && alarms,
  };
  const site = domain ? `https://${domain.name}` : dashboard?.origin;
  return {
    ...settings,
    policy,
    visitorLimits: { ...settings.rateLimits, ...settings.visitorLimits },
    sender: { ...(site !== undefined && { url: `${site}/api/docs` }), ...sender },
  };
}

/**
 * @param content of the stage's file
 * @throws SettingError with a line for each wrong, missing or unknown setting
 */
export function readSettings(stage: string, content: unknown): Settings {
  const { success, data, error } = Consistent.safeParse(content, { reportInput: true });
  if (success) return toSettings(stage, data);
  const lines = error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => `${[...issue.path, key].join('.')} is no setting`);
    // That of a union is a whole object.
    const isShown = issue.input !== undefined && issue.code !== 'invalid_union';
    const given = isShown ? `, not ${JSON.stringify(issue.input)}` : '';
    return `${issue.path.join('.')} ${issue.message}${given}`.trimStart();
  });
  throw new SettingError(lines.map((line) => `lib/stages/${stage}.ts: ${line}`).join('\n'));
}

/** Environment variables of the sender in the user agent. */
export const senderEnvironment = ({ sender: { url, contact } }: Pick<Settings, 'sender'>) => ({
  ...(url === undefined ? {} : { SENDER_URL: url }),
  ...(contact === undefined ? {} : { SENDER_CONTACT: contact }),
});
