import { Api } from '../api.ts';
import { CustomDomain } from '../custom-domain.ts';
import { watchApi } from '../gateway-alarms.ts';
import type { Settings } from '../settings.ts';
import { WebAcl } from '../web-acl.ts';
import type { FunctionsStack } from './functions-stack.ts';
import { type Common, ServiceStack, type StageStack } from './service-stack.ts';

/** The public REST API. */
export class GatewayStack extends ServiceStack {
  readonly common: Common;
  readonly api: Api;

  constructor(stage: StageStack, functions: FunctionsStack, settings: Settings) {
    super(stage, 'Gateway', 'the REST API');
    this.common = functions.common;
    // It refers to the functions by name, which CloudFormation cannot see.
    this.addStackDependency(functions);
    this.api = new Api(this, 'Api', settings);
    const alarms = watchApi(this.api).map(({ alarmArn }) => alarmArn);
    if (alarms.length > 0)
      this.output('ReleaseAlarmArns', alarms.join(' '), 'While they are watched, they undo a deployment');
    if (settings.waf) new WebAcl(this, 'WebAcl', this.api.rest, settings);
    const { domain } = settings;
    const url = domain ? new CustomDomain(this, 'Domain', this.api.rest, domain).url : this.api.rest.url;
    this.output('ApiUrl', url, 'Public routes are below v1/');
  }
}
