/**
 * Runs in CloudFront before its cache (CloudFront Functions, runtime 2.0), and as it is in the local run: what has no extension of a file is a path
 * of the application, which is one page. Names of event types have dots. Not done by mapping errors to that page, which would also hide those of
 * the API behind the same name.
 */
// biome-ignore lint/correctness/noUnusedVariables: CloudFront calls it by this name
function handler(event) {
  const request = event.request;
  const name = request.uri.slice(request.uri.lastIndexOf('/') + 1);
  if (!/\.(?:css|html|ico|js|json|png|svg|txt|woff2)$/.test(name)) request.uri = '/index.html';
  return request;
}
