import { Aws, Duration } from 'aws-cdk-lib';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import type { Construct } from 'constructs';
import { ServiceStack } from '../stacks/service-stack.ts';

/**
 * Pages may load files of their own origin and call its API: no inline scripts or styles, no framing, no form
 * submission, and no text that becomes markup or code (Trusted Types).
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Pages only use the clipboard, to copy a secret. */
const PERMISSIONS = [
  'accelerometer=()',
  'autoplay=()',
  'camera=()',
  'clipboard-read=()',
  'clipboard-write=(self)',
  'display-capture=()',
  'fullscreen=()',
  'geolocation=()',
  'gyroscope=()',
  'hid=()',
  'magnetometer=()',
  'microphone=()',
  'midi=()',
  'payment=()',
  'publickey-credentials-get=()',
  'screen-wake-lock=()',
  'serial=()',
  'usb=()',
  'xr-spatial-tracking=()',
].join(', ');

/** CloudFront names are global, while a stage may be in several regions, and have at most 64 characters. */
export const dashboardName = (scope: Construct): string =>
  `conversation-service-${ServiceStack.of(scope).policy.stage}-${Aws.REGION}`;

/** Header fields of every bucket response, including errors. The API has its own. */
export function siteHeaders(scope: Construct, id: string): cloudfront.ResponseHeadersPolicy {
  const { stage } = ServiceStack.of(scope).policy;
  const always = { override: true };
  return new cloudfront.ResponseHeadersPolicy(scope, id, {
    responseHeadersPolicyName: dashboardName(scope),
    comment: `Dashboard of the Conversation Service, ${stage}`,
    securityHeadersBehavior: {
      contentSecurityPolicy: { contentSecurityPolicy: CONTENT_SECURITY_POLICY, ...always },
      contentTypeOptions: always,
      frameOptions: { frameOption: cloudfront.HeadersFrameOption.DENY, ...always },
      // Not no-referrer: browsers then send `Origin: null` with some requests, and writes need the origin.
      referrerPolicy: { referrerPolicy: cloudfront.HeadersReferrerPolicy.SAME_ORIGIN, ...always },
      strictTransportSecurity: {
        accessControlMaxAge: Duration.days(365),
        includeSubdomains: true,
        ...always,
      },
    },
    customHeadersBehavior: {
      customHeaders: [
        { header: 'Cross-Origin-Opener-Policy', value: 'same-origin', ...always },
        { header: 'Cross-Origin-Resource-Policy', value: 'same-origin', ...always },
        { header: 'Permissions-Policy', value: PERMISSIONS, ...always },
      ],
    },
  });
}
