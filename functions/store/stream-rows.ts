import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';

/** The row that an image of a stream record shows. */
export const rowOf = (image: Record<string, AttributeValue> | undefined): Record<string, unknown> =>
  unmarshall(image ?? {});
