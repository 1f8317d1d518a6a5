import * as z from 'zod';

const Config = z.object({
  CustomHeadersConfig: z
    .object({ Items: z.array(z.object({ Header: z.string(), Value: z.string() })) })
    .optional(),
  SecurityHeadersConfig: z
    .object({
      ContentSecurityPolicy: z.object({ ContentSecurityPolicy: z.string() }).optional(),
      ContentTypeOptions: z.object({}).optional(),
      FrameOptions: z.object({ FrameOption: z.string() }).optional(),
      ReferrerPolicy: z.object({ ReferrerPolicy: z.string() }).optional(),
      StrictTransportSecurity: z
        .object({ AccessControlMaxAgeSec: z.number(), IncludeSubdomains: z.boolean().default(false) })
        .optional(),
    })
    .optional(),
});
export const HeadersPolicy = z.object({ ResponseHeadersPolicyConfig: Config });

/** Header fields of a response headers policy, in CloudFront's notation. */
export function headersOf({ ResponseHeadersPolicyConfig: config }: z.infer<typeof HeadersPolicy>) {
  const { SecurityHeadersConfig: security = {}, CustomHeadersConfig: custom = { Items: [] } } = config;
  const {
    ContentSecurityPolicy: csp,
    FrameOptions: frame,
    ReferrerPolicy: referrer,
    StrictTransportSecurity: hsts,
  } = security;
  return {
    ...(csp && { 'Content-Security-Policy': csp.ContentSecurityPolicy }),
    ...(security.ContentTypeOptions && { 'X-Content-Type-Options': 'nosniff' }),
    ...(frame && { 'X-Frame-Options': frame.FrameOption }),
    ...(referrer && { 'Referrer-Policy': referrer.ReferrerPolicy }),
    ...(hsts && {
      'Strict-Transport-Security': `max-age=${hsts.AccessControlMaxAgeSec}${hsts.IncludeSubdomains ? '; includeSubDomains' : ''}`,
    }),
    ...Object.fromEntries(custom.Items.map(({ Header, Value }) => [Header, Value])),
  };
}
