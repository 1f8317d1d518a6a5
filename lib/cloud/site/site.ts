import { join } from 'node:path';
import { Annotations, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import * as origins from 'aws-cdk-lib/aws-cloudfront-origins';
import * as s3 from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { acknowledge } from '../acknowledgements.ts';
import { API_STAGE } from '../api.ts';
import type { Settings } from '../settings.ts';
import { ServiceStack } from '../stacks/service-stack.ts';
import { dashboardName, siteHeaders } from './headers.ts';

/** Error statuses that CloudFront caches even when their answers forbid it. */
const CACHED_STATUSES = [404, 405, 414, 500, 501, 502, 503, 504];

export interface SiteProps {
  /** What is behind `/api`. */
  api: RestApi;
  settings: Pick<Settings, 'dashboardOrigin' | 'dashboardCertificateArn'>;
}

/**
 * Where the dashboard is served: its files from a private bucket, and the API, both under one name, so that
 * the pages need neither CORS nor cookies of another site. The gateway's own address works as before.
 */
export class Site extends Construct {
  readonly bucket: s3.Bucket;
  readonly distribution: cloudfront.Distribution;
  /** With a slash at its end. */
  readonly url: string;

  constructor(scope: Construct, id: string, { api, settings }: SiteProps) {
    super(scope, id);
    const { dashboardOrigin, dashboardCertificateArn: certificateArn } = settings;
    // What is in it is built of the sources. CloudFormation deletes no bucket that has something in it, so
    // that it leaves this one alone.
    this.bucket = new s3.Bucket(this, 'Files', {
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      encryption: s3.BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    const ownName = certificateArn !== undefined && dashboardOrigin !== undefined;
    this.distribution = new cloudfront.Distribution(this, 'Distribution', {
      comment: `Dashboard of the Conversation Service, ${ServiceStack.of(this).policy.stage}`,
      httpVersion: cloudfront.HttpVersion.HTTP2_AND_3,
      ...(ownName
        ? {
            domainNames: [new URL(dashboardOrigin).hostname],
            minimumProtocolVersion: cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
            certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
          }
        : {}),
      // The function says so too; without either, a list of the bucket would be at `/`.
      defaultRootObject: 'index.html',
      defaultBehavior: this.filesBehavior(),
      additionalBehaviors: { [`/${API_STAGE}/*`]: this.apiBehavior(api) },
      // Otherwise CloudFront gives everybody for ten seconds what one caller was answered: for these it heeds
      // no Cache-Control (CloudFront Developer Guide, "How CloudFront processes HTTP 4xx and 5xx status codes
      // from your origin").
      errorResponses: CACHED_STATUSES.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
    });
    this.url = ownName ? `${dashboardOrigin}/` : `https://${this.distribution.distributionDomainName}/`;
    this.acknowledgeFindings(ownName);
  }

  private filesBehavior(): cloudfront.BehaviorOptions {
    const viewerRequest = new cloudfront.Function(this, 'ViewerRequest', {
      functionName: dashboardName(this),
      comment: 'Paths of the application are its one page',
      code: cloudfront.FunctionCode.fromFile({ filePath: join(import.meta.dirname, 'viewer-request.js') }),
      runtime: cloudfront.FunctionRuntime.JS_2_0,
    });
    return {
      // With leave to list it the bucket says 404 of what it does not have; no request gets as far as to a
      // list.
      origin: origins.S3BucketOrigin.withOriginAccessControl(this.bucket, {
        originAccessControl: new cloudfront.S3OriginAccessControl(this, 'Access', {
          originAccessControlName: dashboardName(this),
        }),
        originAccessLevels: [cloudfront.AccessLevel.READ, cloudfront.AccessLevel.LIST],
      }),
      // As long as the files themselves say, compressed with Brotli or gzip.
      cachePolicy: cloudfront.CachePolicy.CACHING_OPTIMIZED,
      compress: true,
      allowedMethods: cloudfront.AllowedMethods.ALLOW_GET_HEAD,
      viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      responseHeadersPolicy: siteHeaders(this, 'Headers'),
      functionAssociations: [
        { eventType: cloudfront.FunctionEventType.VIEWER_REQUEST, function: viewerRequest },
      ],
    };
  }

  /** The gateway's stage has the name that the path begins with, so that nothing is rewritten. */
  private apiBehavior(api: RestApi): cloudfront.BehaviorOptions {
    const { region, urlSuffix } = Stack.of(this);
    return {
      origin: new origins.HttpOrigin(`${api.restApiId}.execute-api.${region}.${urlSuffix}`, {
        protocolPolicy: cloudfront.OriginProtocolPolicy.HTTPS_ONLY,
        originSslProtocols: [cloudfront.OriginSslPolicy.TLS_V1_2],
      }),
      cachePolicy: cloudfront.CachePolicy.CACHING_DISABLED,
      // The gateway knows itself by its own name alone.
      originRequestPolicy: cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      allowedMethods: cloudfront.AllowedMethods.ALLOW_ALL,
      // Not redirected: what was sent in the clear, keys among it, would have been read already.
      viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
    };
  }

  private acknowledgeFindings(ownName: boolean): void {
    acknowledge(this.bucket, {
      S1: 'It has the files of a public page alone, and CloudFront is the only one to read them.',
    });
    Annotations.of(this.distribution).acknowledgeWarning(
      '@aws-cdk/aws-cloudfront-origins:listBucketSecurityRisk',
      'There is a default root object, and the viewer request function leaves no other path at which there could be a list.',
    );
    acknowledge(this.distribution, {
      CFR1: 'Customers may be in any country.',
      CFR2: 'A web ACL for CloudFront has to be in us-east-1, wherever the service is. Files are the same for everybody; the API behind it has a web ACL of its own (context waf).',
      CFR3: 'All that shows or changes anything of an organization is a call of the API, which logs its own; the rest are the files of a public page.',
      ...(ownName
        ? {}
        : {
            CFR4: "Under the distribution's own name CloudFront gives no choice. With a name of one's own (context dashboardCertificateArn) TLS 1.2 is the least.",
          }),
    });
  }
}
