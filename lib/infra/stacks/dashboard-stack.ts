import type { Settings } from '../settings.ts';
import { SiteContent } from '../site/content.ts';
import { Site } from '../site/site.ts';
import type { GatewayStack } from './gateway-stack.ts';
import { type Common, ServiceStack, type StageStack } from './service-stack.ts';

/** The organization's dashboard: static files and the API under one host. */
export class DashboardStack extends ServiceStack {
  readonly common: Common;

  /** @param directory of the built dashboard */
  constructor(
    stage: StageStack,
    gateway: GatewayStack,
    { settings, directory }: { settings: Settings; directory: string },
  ) {
    super(stage, 'Dashboard', 'the dashboard');
    this.common = gateway.common;
    const site = new Site(this, 'Site', { api: gateway.api.rest, settings });
    const { bucket, distribution, url } = site;
    new SiteContent(this, 'Content', { directory, bucket, distribution });
    this.output('DashboardUrl', url, 'The dashboard, with the API below api/');
    this.output(
      'DashboardTarget',
      distribution.distributionDomainName,
      "What the dashboard's own name is an alias of",
    );
  }
}
