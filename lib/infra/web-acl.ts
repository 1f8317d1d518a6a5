import { Aws, Fn, RemovalPolicy } from 'aws-cdk-lib';
import type { RestApiBase } from 'aws-cdk-lib/aws-apigateway';
import * as wafv2 from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import type { RateLimits } from '../../functions/http/rate-limit.ts';
import { API_STAGE } from './api.ts';
import { DOCUMENTATION_ROUTES, SIGN_IN_ROUTES } from './served-methods.ts';
import { logGroup } from './service-function.ts';
import type { Settings } from './settings.ts';
import { ServiceStack } from './stacks/service-stack.ts';

/**
 * Bodies contain users' text, such as HTML, scripts, paths and exploits, and may exceed what WAF reads. AWS's
 * body rules would reject customers, so they only count; parsers and pages protect against the same attacks.
 */
const BODIES = {
  AWSManagedRulesCommonRuleSet: [
    'CrossSiteScripting_BODY',
    'EC2MetaDataSSRF_BODY',
    'GenericLFI_BODY',
    'GenericRFI_BODY',
    'SizeRestrictions_BODY',
    // Not a body rule: API clients are programs, which may omit their name.
    'NoUserAgent_HEADER',
  ],
  AWSManagedRulesKnownBadInputsRuleSet: ['JavaDeserializationRCE_BODY', 'Log4JRCE_BODY', 'ReactJSRCE_BODY'],
} as const satisfies Record<string, readonly string[]>;

/** One address may be a customer's proxy, with the keys of several organizations. */
const ORGANIZATIONS_PER_ADDRESS = 10;
/**
 * Unauthenticated requests per minute of an address or viewer: several hundred users sign in from one
 * address.
 */
const UNAUTHENTICATED_LIMIT = 600;
/** WAF's shortest window in seconds. */
const WINDOW_SECONDS = 60;
/** WAF's limits. */
const LIMITS = { least: 10, most: 2_000_000_000 };

/**
 * Header that the stage's distribution sends to the API, in place of the viewer's own. The value is the
 * unique part of the stack's id, which only the account knows. It gives no access: who knows it can choose
 * which address is counted.
 */
export const originHeader = (scope: Construct): Record<string, string> => ({
  [ORIGIN_HEADER]: Fn.select(2, Fn.split('/', ServiceStack.of(scope).stageStackId)),
});
const ORIGIN_HEADER = 'x-origin-verify';
/** Set by `site/viewer-address.js`. */
const VIEWER_ADDRESS_HEADER = 'true-client-ip';

/** Paths that work without credentials. */
const UNAUTHENTICATED: wafv2.CfnWebACL.StatementProperty = {
  orStatement: {
    statements: shortestPrefixes([...SIGN_IN_ROUTES, ...DOCUMENTATION_ROUTES]).map((prefix) => ({
      byteMatchStatement: {
        fieldToMatch: { uriPath: {} },
        positionalConstraint: 'STARTS_WITH',
        searchString: `/${API_STAGE}${prefix}`,
        textTransformations: [
          { priority: 0, type: 'URL_DECODE' },
          { priority: 1, type: 'NORMALIZE_PATH' },
        ],
      },
    })),
  },
};

/** Shortest prefixes that cover all routes. */
function shortestPrefixes(routes: readonly { path: string }[]): string[] {
  const paths = [...new Set(routes.map(({ path }) => path.replace(/\{.*$/, '')))];
  return paths.filter((path) => !paths.some((other) => other !== path && path.startsWith(other)));
}

const both = (...statements: wafv2.CfnWebACL.StatementProperty[]): wafv2.CfnWebACL.StatementProperty => ({
  andStatement: { statements },
});

interface RateLimit {
  name: string;
  limit: number;
  /** `viewer`: the address that CloudFront forwards. */
  by: 'viewer' | 'address';
  /** Counted requests. */
  scope: wafv2.CfnWebACL.StatementProperty;
}

/**
 * Requests through the stage's distribution share CloudFront's addresses, so they count by the viewer's. All
 * others count by their source: their headers may be forged.
 */
function createRateLimits(scope: Construct, { scale }: RateLimits): RateLimit[] {
  const viewer: wafv2.CfnWebACL.StatementProperty = {
    byteMatchStatement: {
      fieldToMatch: { singleHeader: { Name: ORIGIN_HEADER } },
      positionalConstraint: 'EXACTLY',
      searchString: originHeader(scope)[ORIGIN_HEADER],
      textTransformations: [{ priority: 0, type: 'NONE' }],
    },
  };
  const address = { notStatement: { statement: viewer } };
  const limit = UNAUTHENTICATED_LIMIT;
  return [
    { name: 'UnauthenticatedFromOneViewer', limit, by: 'viewer', scope: both(viewer, UNAUTHENTICATED) },
    { name: 'UnauthenticatedFromOneAddress', limit, by: 'address', scope: both(address, UNAUTHENTICATED) },
    { name: 'RequestsFromOneViewer', limit: scale, by: 'viewer', scope: viewer },
    {
      name: 'RequestsFromOneAddress',
      limit: ORGANIZATIONS_PER_ADDRESS * scale,
      by: 'address',
      scope: address,
    },
  ];
}

const AGGREGATION: Readonly<
  Record<RateLimit['by'], Omit<wafv2.CfnWebACL.RateBasedStatementProperty, 'limit'>>
> = {
  viewer: {
    aggregateKeyType: 'FORWARDED_IP',
    forwardedIpConfig: { headerName: VIEWER_ADDRESS_HEADER, fallbackBehavior: 'NO_MATCH' },
  },
  address: { aggregateKeyType: 'IP' },
};

/** Web ACL of the API: limits per source address, and AWS's rules for requests that no API client sends. */
export class WebAcl extends Construct {
  constructor(
    scope: Construct,
    id: string,
    api: RestApiBase,
    { rateLimits, wafLogs }: Pick<Settings, 'rateLimits' | 'wafLogs'>,
  ) {
    super(scope, id);
    const { stage } = ServiceStack.of(this).policy;
    const visibility = (name: string): wafv2.CfnWebACL.VisibilityConfigProperty => ({
      metricName: `conversation-service-${stage}-${name}`,
      cloudWatchMetricsEnabled: true,
      // Samples show headers, and so API keys, to all users of the console.
      sampledRequestsEnabled: false,
    });
    const limits = createRateLimits(this, rateLimits);
    const acl = new wafv2.CfnWebACL(this, 'Acl', {
      name: `conversation-service-${stage}`,
      description: `Before the Conversation Service API, ${stage}`,
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      visibilityConfig: visibility('all'),
      ...(wafLogs && { dataProtectionConfig: { dataProtections: CREDENTIALS.map(substituted) } }),
      rules: [
        ...limits.map(
          ({ name, limit, by, scope }, priority): wafv2.CfnWebACL.RuleProperty => ({
            name,
            priority,
            action: { block: {} },
            statement: {
              rateBasedStatement: {
                ...AGGREGATION[by],
                evaluationWindowSec: WINDOW_SECONDS,
                limit: Math.min(LIMITS.most, Math.max(LIMITS.least, limit)),
                scopeDownStatement: scope,
              },
            },
            visibilityConfig: visibility(name),
          }),
        ),
        ...Object.entries(BODIES).map(
          ([name, counted], index): wafv2.CfnWebACL.RuleProperty => ({
            name,
            priority: limits.length + index,
            overrideAction: { none: {} },
            statement: {
              managedRuleGroupStatement: {
                vendorName: 'AWS',
                name,
                ruleActionOverrides: counted.map((rule) => ({ name: rule, actionToUse: { count: {} } })),
              },
            },
            visibilityConfig: visibility(name),
          }),
        ),
      ],
    });
    new wafv2.CfnWebACLAssociation(this, 'OfTheApi', {
      webAclArn: acl.attrArn,
      resourceArn: api.deploymentStage.stageArn,
    });
    if (wafLogs) this.logBlocked(acl);
  }

  /** Not all requests, as in the access log, nor those that rules count: with these are parts of bodies. */
  private logBlocked(acl: wafv2.CfnWebACL): void {
    // WAF requires the beginning. A group that is kept would have the name of the next one.
    const group = logGroup(this, 'Log', `aws-waf-logs-${Aws.STACK_NAME}`);
    group.applyRemovalPolicy(RemovalPolicy.DESTROY);
    new wafv2.CfnLoggingConfiguration(this, 'Logging', {
      resourceArn: acl.attrArn,
      // WAF's logs take the group's name without the `:*` that its ARN ends with.
      logDestinationConfigs: [Fn.select(0, Fn.split(':*', group.logGroupArn))],
      loggingFilter: {
        DefaultBehavior: 'DROP',
        Filters: [
          {
            Behavior: 'KEEP',
            Requirement: 'MEETS_ANY',
            Conditions: [{ ActionCondition: { Action: 'BLOCK' } }],
          },
        ],
      },
    });
  }
}

/** With API keys, tokens of sessions and visitors, codes of a sign-in, and what the distribution sends. */
const CREDENTIALS: readonly wafv2.CfnWebACL.FieldToProtectProperty[] = [
  { fieldType: 'SINGLE_HEADER', fieldKeys: ['authorization', 'cookie', ORIGIN_HEADER] },
  { fieldType: 'QUERY_STRING' },
];

/** Replaced in logs; `redactedFields` of a log reach only what a rule inspects. */
const substituted = (field: wafv2.CfnWebACL.FieldToProtectProperty): wafv2.CfnWebACL.DataProtectProperty => ({
  field,
  action: 'SUBSTITUTION',
});
