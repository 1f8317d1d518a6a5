import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import * as wafv2 from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import type { RateLimits } from '../../functions/domain/rate-limit.ts';
import { ServiceStack } from './stacks/service-stack.ts';

/**
 * Messages, tickets and texts hold whatever people write: HTML, scripts, paths, exploits that they ask about; and a body may be larger than WAF
 * reads. A rule about bodies would refuse customers, so each of AWS's is counted and never blocks. What they protect against is dealt with where
 * bodies are parsed and shown.
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
/** The shortest that WAF counts over. Seconds. */
const WINDOW_SECONDS = 60;
/** WAF takes no lower limit. */
const LEAST_LIMIT = 10;

/** A web ACL before the API: AWS's rules for what no caller of ours sends, and a limit for what comes from one address. */
export class WebAcl extends Construct {
  constructor(scope: Construct, id: string, api: RestApi, { scale }: RateLimits) {
    super(scope, id);
    const { stage } = ServiceStack.of(this).policy;
    const visibility = (name: string): wafv2.CfnWebACL.VisibilityConfigProperty => ({
      metricName: `conversation-service-${stage}-${name}`,
      cloudWatchMetricsEnabled: true,
      // Samples show headers, and with them API keys, to everybody who may look at the console.
      sampledRequestsEnabled: false,
    });
    const acl = new wafv2.CfnWebACL(this, 'Acl', {
      name: `conversation-service-${stage}`,
      description: `Before the Conversation Service API, ${stage}`,
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      visibilityConfig: visibility('all'),
      rules: [
        {
          name: 'RequestsFromOneAddress',
          priority: 0,
          action: { block: {} },
          statement: {
            rateBasedStatement: {
              aggregateKeyType: 'IP',
              evaluationWindowSec: WINDOW_SECONDS,
              limit: Math.max(LEAST_LIMIT, ORGANIZATIONS_PER_ADDRESS * scale),
            },
          },
          visibilityConfig: visibility('address'),
        },
        ...Object.entries(BODIES).map(
          ([name, counted], index): wafv2.CfnWebACL.RuleProperty => ({
            name,
            priority: index + 1,
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
