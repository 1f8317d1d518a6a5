import { CfnOutput } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Settings } from '../settings.ts';
import { SiteContent } from '../site/content.ts';
import { Site } from '../site/site.ts';
import type { GatewayStack } from './gateway-stack.ts';
import { type Common, ServiceStack } from './service-stack.ts';

/** The organization's dashboard: static files and the API under one host. */
export class DashboardStack extends ServiceStack {
  readonly common: Common;

  /** @param directory of the built dashboard */
  constructor(
    scope: Construct,
    gateway: GatewayStack,
    { settings, directory }: { settings: Settings; directory: string },
  ) {
    super(scope, 'Dashboard', 'the dashboard', gateway.policy);
    this.common = gateway.common;
    const site = new Site(this, 'Site', { api: gateway.api.rest, settings });
    const { bucket, distribution, url } = site;
    new SiteContent(this, 'Content', { directory, bucket, distribution });
    new CfnOutput(this, 'DashboardUrl', {
      value: url,
      description: 'The dashboard, with the API below api/',
    });
    new CfnOutput(this, 'DashboardTarget', {
      value: distribution.distributionDomainName,
      description: "What the dashboard's own name is an alias of",
    });
  }
}
