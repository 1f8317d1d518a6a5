import { join } from 'node:path';
import { Annotations, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { RestApiBase } from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import * as origins from 'aws-cdk-lib/aws-cloudfront-origins';
import * as s3 from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { acknowledge } from '../acknowledgements.ts';
import { API_STAGE } from '../api.ts';
import type { Settings } from '../settings.ts';
import { ServiceStack } from '../stacks/service-stack.ts';
import { originHeader } from '../web-acl.ts';
import { dashboardName, siteHeaders } from './headers.ts';

/** Error statuses that CloudFront caches even when the response forbids it. */
const CACHED_STATUSES = [404, 405, 414, 500, 501, 502, 503, 504];

export interface SiteProps {
  /** Served at `/api`. */
  api: RestApiBase;
  settings: Pick<Settings, 'dashboard' | 'waf'>;
}

/**
 * Serves the dashboard from a private bucket and the API under one host, so that pages need neither CORS nor
 * third-party cookies. The gateway's own URL still works.
 */
export class Site extends Construct {
  readonly bucket: s3.Bucket;
  readonly distribution: cloudfront.Distribution;
  /** With a trailing slash. */
  readonly url: string;

  constructor(scope: Construct, id: string, { api, settings }: SiteProps) {
    super(scope, id);
    const { origin, certificateArn } = settings.dashboard ?? {};
    // Its content is built from the sources. CloudFormation deletes only empty buckets, so it keeps this one.
    this.bucket = new s3.Bucket(this, 'Files', {
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      encryption: s3.BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    const ownName = certificateArn !== undefined && origin !== undefined;
    this.distribution = new cloudfront.Distribution(this, 'Distribution', {
      comment: `Dashboard of the Conversation Service, ${ServiceStack.of(this).policy.stage}`,
      httpVersion: cloudfront.HttpVersion.HTTP2_AND_3,
      ...(ownName
        ? {
            domainNames: [new URL(origin).hostname],
            minimumProtocolVersion: cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
            certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
          }
        : {}),
      // Also in the function; without either, `/` would list the bucket.
      defaultRootObject: 'index.html',
      defaultBehavior: this.filesBehavior(),
      additionalBehaviors: { [`/${API_STAGE}/*`]: this.apiBehavior(api, settings.waf) },
      // Otherwise CloudFront serves one caller's error to all for ten seconds: for these it ignores
      // Cache-Control (CloudFront Developer Guide, "How CloudFront processes HTTP 4xx and 5xx status codes
      // from your origin").
      errorResponses: CACHED_STATUSES.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
    });
    this.url = ownName ? `${origin}/` : `https://${this.distribution.distributionDomainName}/`;
    this.acknowledgeFindings(ownName);
  }

  private filesBehavior(): cloudfront.BehaviorOptions {
    return {
      // With permission to list, the bucket answers 404 for missing keys; no request can list it.
      origin: origins.S3BucketOrigin.withOriginAccessControl(this.bucket, {
        originAccessControl: new cloudfront.S3OriginAccessControl(this, 'Access', {
          originAccessControlName: dashboardName(this),
        }),
        originAccessLevels: [cloudfront.AccessLevel.READ, cloudfront.AccessLevel.LIST],
      }),
      // Cached as the files' own headers say, compressed with Brotli or gzip.
      cachePolicy: cloudfront.CachePolicy.CACHING_OPTIMIZED,
      compress: true,
      allowedMethods: cloudfront.AllowedMethods.ALLOW_GET_HEAD,
      viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      responseHeadersPolicy: siteHeaders(this, 'Headers'),
      functionAssociations: this.onViewerRequest('ViewerRequest', {
        functionName: dashboardName(this),
        comment: 'Paths of the application are its one page',
        file: 'viewer-request.js',
      }),
    };
  }

  /** The path begins with the name of the gateway's stage, so nothing is rewritten. */
  private apiBehavior(api: RestApiBase, waf: boolean): cloudfront.BehaviorOptions {
    const { region, urlSuffix } = Stack.of(this);
    return {
      origin: new origins.HttpOrigin(`${api.restApiId}.execute-api.${region}.${urlSuffix}`, {
        protocolPolicy: cloudfront.OriginProtocolPolicy.HTTPS_ONLY,
        originSslProtocols: [cloudfront.OriginSslPolicy.TLS_V1_2],
        ...(waf && { customHeaders: originHeader(this) }),
      }),
      cachePolicy: cloudfront.CachePolicy.CACHING_DISABLED,
      // The gateway only accepts its own host name.
      originRequestPolicy: cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      allowedMethods: cloudfront.AllowedMethods.ALLOW_ALL,
      // Not redirected: what was sent unencrypted, keys included, could already have been read.
      viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
      ...(waf && {
        functionAssociations: this.onViewerRequest('ViewerAddress', {
          functionName: `${dashboardName(this)}-api`,
          comment: "The viewer's address, for the web ACL",
          file: 'viewer-address.js',
        }),
      }),
    };
  }

  private onViewerRequest(
    id: string,
    { file, ...names }: { functionName: string; comment: string; file: string },
  ): cloudfront.FunctionAssociation[] {
    const viewerRequest = new cloudfront.Function(this, id, {
      ...names,
      code: cloudfront.FunctionCode.fromFile({ filePath: join(import.meta.dirname, file) }),
      runtime: cloudfront.FunctionRuntime.JS_2_0,
    });
    return [{ eventType: cloudfront.FunctionEventType.VIEWER_REQUEST, function: viewerRequest }];
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
            CFR4: "Under the distribution's own name CloudFront gives no choice. With a name of one's own (setting dashboard) TLS 1.2 is the least.",
          }),
    });
  }
}
