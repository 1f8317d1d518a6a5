import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Construct } from 'constructs';
import { API_STAGE } from './api.ts';
import type { Settings } from './settings.ts';
import { ServiceStack } from './stacks/service-stack.ts';

/**
 * A custom domain of the API. Its base path is the stage's name, `api`, so that public paths are the same
 * with both hosts: `/api/v1/…`. The domain's owner points an alias record at the outputs `DomainTarget` and
 * `DomainTargetZone`.
 */
export class CustomDomain extends Construct {
  /** Base URL of the routes, like the gateway's own URL. */
  readonly url: string;

  constructor(
    scope: Construct,
    id: string,
    api: apigateway.RestApiBase,
    { name, certificateArn }: NonNullable<Settings['domain']>,
  ) {
    super(scope, id);
    const domain = new apigateway.DomainName(this, 'Name', {
      domainName: name,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
      endpointType: apigateway.EndpointType.REGIONAL,
      securityPolicy: apigateway.SecurityPolicy.TLS_1_2,
    });
    new apigateway.BasePathMapping(this, 'Path', {
      domainName: domain,
      restApi: api,
      basePath: API_STAGE,
      stage: api.deploymentStage,
    });
    this.url = `https://${name}/${API_STAGE}/`;
    const { domainNameAliasDomainName: target, domainNameAliasHostedZoneId: zone } = domain;
    const stack = ServiceStack.of(scope);
    stack.output('DomainTarget', target, `What ${name} is an alias of`);
    stack.output('DomainTargetZone', zone, 'The hosted zone of that target');
  }
}
