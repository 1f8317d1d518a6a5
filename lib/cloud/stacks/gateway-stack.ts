import { CfnOutput } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Api } from '../api.ts';
import type { FunctionsStack } from './functions-stack.ts';
import { type Common, ServiceStack } from './service-stack.ts';

/** What stands on the internet: the REST API. */
export class GatewayStack extends ServiceStack {
  readonly common: Common;
  readonly api: Api;

  constructor(scope: Construct, functions: FunctionsStack) {
    super(scope, 'Gateway', 'the REST API', functions.policy);
    this.common = functions.common;
    // It knows them by name alone, which CloudFormation cannot see.
    this.addStackDependency(functions);
    this.api = new Api(this, 'Api');
    new CfnOutput(this, 'ApiUrl', { value: this.api.rest.url, description: 'Public routes are below v1/' });
  }
}
