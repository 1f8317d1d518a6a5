/** Runs in CloudFront before each request to the API. The web ACL counts by this header. */
// biome-ignore lint/correctness/noUnusedVariables: CloudFront calls it by this name
function handler(event) {
  event.request.headers['true-client-ip'] = { value: event.viewer.ip };
  return event.request;
}
