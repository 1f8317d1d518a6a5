import { CfnOutput } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Api } from '../api.ts';
import { CustomDomain } from '../custom-domain.ts';
import { watchApi } from '../gateway-alarms.ts';
import type { Settings } from '../settings.ts';
import { WebAcl } from '../web-acl.ts';
import type { FunctionsStack } from './functions-stack.ts';
import { type Common, ServiceStack } from './service-stack.ts';

/** The public REST API. */
export class GatewayStack extends ServiceStack {
  readonly common: Common;
  readonly api: Api;

  constructor(scope: Construct, functions: FunctionsStack, settings: Settings) {
    super(scope, 'Gateway', 'the REST API', functions.policy);
    this.common = functions.common;
    // It refers to the functions by name, which CloudFormation cannot see.
    this.addStackDependency(functions);
    this.api = new Api(this, 'Api', settings);
    watchApi(this.api);
    if (settings.waf) new WebAcl(this, 'WebAcl', this.api.rest, settings.rateLimits);
    const { domain } = settings;
    const url = domain ? new CustomDomain(this, 'Domain', this.api.rest, domain).url : this.api.rest.url;
    new CfnOutput(this, 'ApiUrl', { value: url, description: 'Public routes are below v1/' });
  }
}
