import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import * as wafv2 from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import type { RateLimits } from '../../functions/domain/rate-limit.ts';
import { API_STAGE } from './api.ts';
import { DOCUMENTATION_ROUTES } from './documentation.ts';
import { SIGN_IN_ROUTES } from './sign-in.ts';
import { ServiceStack } from './stacks/service-stack.ts';

/**
 * Messages, tickets and texts hold what people write: HTML, scripts, paths, exploits that they ask about; and
 * a body may be larger than WAF reads. A rule about bodies would refuse customers, so each of AWS's is
 * counted and never blocks. Parsers and pages protect against what the rules are for.
 */
const BODIES = {
  AWSManagedRulesCommonRuleSet: [
    'CrossSiteScripting_BODY',
    'EC2MetaDataSSRF_BODY',
    'GenericLFI_BODY',
    'GenericRFI_BODY',
    'SizeRestrictions_BODY',
    // Not about bodies: programs call this API, and a program may leave its name out.
    'NoUserAgent_HEADER',
  ],
  AWSManagedRulesKnownBadInputsRuleSet: ['JavaDeserializationRCE_BODY', 'Log4JRCE_BODY', 'ReactJSRCE_BODY'],
} as const satisfies Record<string, readonly string[]>;

/** One address may be a customer's proxy, with the keys of several organizations behind it. */
const ORGANIZATIONS_PER_ADDRESS = 10;
/**
 * Requests a minute of one address or viewer where no credentials are needed: several hundred people behind
 * one address sign in.
 */
const UNAUTHENTICATED_LIMIT = 600;
/** The shortest that WAF counts over. Seconds. */
const WINDOW_SECONDS = 60;
/** The limits that WAF takes. */
const LIMITS = { least: 10, most: 2_000_000_000 };

/** CloudFront names itself in `Via`, and sends the viewer's address in `X-Forwarded-For`. */
const THROUGH_CLOUDFRONT: wafv2.CfnWebACL.StatementProperty = {
  byteMatchStatement: {
    fieldToMatch: { singleHeader: { Name: 'via' } },
    positionalConstraint: 'CONTAINS',
    searchString: '(cloudfront)',
    textTransformations: [{ priority: 0, type: 'LOWERCASE' }],
  },
};
const NOT_THROUGH_CLOUDFRONT = { notStatement: { statement: THROUGH_CLOUDFRONT } };

/** Paths whose function answers without credentials. */
const UNAUTHENTICATED: wafv2.CfnWebACL.StatementProperty = {
  orStatement: {
    statements: prefixesOf([...SIGN_IN_ROUTES, ...DOCUMENTATION_ROUTES]).map((prefix) => ({
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

/** The shortest paths that all the others begin with. */
function prefixesOf(routes: readonly { path: string }[]): string[] {
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
  /** What it counts; everything when absent. */
  scope?: wafv2.CfnWebACL.StatementProperty;
}

/**
 * Requests through CloudFront come from addresses that many people share, so they are counted by the address
 * that it forwards. A caller can forge that header, and `Via`, to change the address it is counted under; so
 * the last rule counts every request by its source, which cannot be forged. The rules by viewer come first
 * and have lower limits: what they block is not counted against an edge of CloudFront.
 */
const rateLimitsOf = ({ scale }: RateLimits): RateLimit[] => [
  {
    name: 'UnauthenticatedFromOneViewer',
    limit: UNAUTHENTICATED_LIMIT,
    by: 'viewer',
    scope: both(THROUGH_CLOUDFRONT, UNAUTHENTICATED),
  },
  {
    name: 'UnauthenticatedFromOneAddress',
    limit: UNAUTHENTICATED_LIMIT,
    by: 'address',
    scope: both(NOT_THROUGH_CLOUDFRONT, UNAUTHENTICATED),
  },
  { name: 'RequestsFromOneViewer', limit: scale, by: 'viewer', scope: THROUGH_CLOUDFRONT },
  { name: 'RequestsFromOneAddress', limit: ORGANIZATIONS_PER_ADDRESS * scale, by: 'address' },
];

const AGGREGATION: Readonly<
  Record<RateLimit['by'], Omit<wafv2.CfnWebACL.RateBasedStatementProperty, 'limit'>>
> = {
  viewer: {
    aggregateKeyType: 'FORWARDED_IP',
    // Without a valid address in the header, the rule by source is left to count the request.
    forwardedIpConfig: { headerName: 'X-Forwarded-For', fallbackBehavior: 'NO_MATCH' },
  },
  address: { aggregateKeyType: 'IP' },
};

/**
 * A web ACL before the API: limits per source address, and AWS's rules for requests that no client of the API
 * sends.
 */
export class WebAcl extends Construct {
  constructor(scope: Construct, id: string, api: RestApi, rateLimits: RateLimits) {
    super(scope, id);
    const { stage } = ServiceStack.of(this).policy;
    const visibility = (name: string): wafv2.CfnWebACL.VisibilityConfigProperty => ({
      metricName: `conversation-service-${stage}-${name}`,
      cloudWatchMetricsEnabled: true,
      // Samples show headers, and so API keys, to all who may open the console.
      sampledRequestsEnabled: false,
    });
    const limits = rateLimitsOf(rateLimits);
    const acl = new wafv2.CfnWebACL(this, 'Acl', {
      name: `conversation-service-${stage}`,
      description: `Before the Conversation Service API, ${stage}`,
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      visibilityConfig: visibility('all'),
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
                ...(scope === undefined ? {} : { scopeDownStatement: scope }),
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
  }
}
