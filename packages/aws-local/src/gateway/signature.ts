/** Parts of an AWS signature. */
const PARAMETERS = ['Credential', 'Signature', 'SignedHeaders'];

/**
 * API Gateway's error for the `Authorization` header of an unmatched request: it reads any value as an AWS
 * signature and repeats it in its message. https://github.com/aws/chalice/issues/828,
 * https://github.com/serverless/serverless/issues/3205
 */
export function signatureFault(authorization: string, hasDate: boolean): string {
  const [, parameters = authorization] = /^\S+\s+(.*)$/.exec(authorization) ?? [];
  const parts = parameters.split(',').map((part) => part.trim());
  const isScheme = parameters !== authorization;
  const strange = isScheme ? parts.find((part) => !/^[^=]+=./.test(part)) : undefined;
  if (strange !== undefined)
    return `'${strange}' not a valid key=value pair (missing equal-sign) in Authorization header: '${authorization}'.`;
  const names = new Set(parts.map((part) => part.split('=')[0]));
  const missing = PARAMETERS.filter((name) => !names.has(name));
  if (missing.length === 0) return 'The security token included in the request is invalid.';
  return [
    ...missing.map((name) => `Authorization header requires '${name}' parameter.`),
    ...(hasDate
      ? []
      : ["Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header."]),
    `Authorization=${authorization}`,
  ].join(' ');
}
