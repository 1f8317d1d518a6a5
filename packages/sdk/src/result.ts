/** What is known of a response besides its body. */
interface ResponseInfo {
  /** HTTP status. */
  status: number;
  headers: Headers;
  /** Identifies the request to support. */
  requestId: string | undefined;
}

/** A resource or page, with the response that it came with. */
export interface WithResponse<Data> extends ResponseInfo {
  data: Data;
}

/**
 * What a call returns: a promise of the resource.
 * @example const { data, requestId } = await client.conversations.get(id).withResponse();
 */
export interface Result<Data> extends Promise<Data> {
  /** The resource with status and headers of its response. */
  withResponse(): Promise<WithResponse<Data>>;
}

/** The result of a call. @param read takes the resource from the content of a response */
export function resultOf<Content, Data>(
  answered: Promise<WithResponse<Content>>,
  read: (content: Content) => Data,
): Result<Data> {
  const result = answered.then(({ data }) => read(data));
  const withResponse = () => {
    // Its failure is that of the promise which is returned.
    result.catch(() => undefined);
    return answered.then((response) => ({ ...response, data: read(response.data) }));
  };
  return Object.assign(result, { withResponse });
}
