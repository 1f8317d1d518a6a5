import type { ErasureId } from '../aws/ids.ts';
import { erasing } from '../delivery/erasure.ts';
import { success } from '../http/reply.ts';
import { tables } from './route-handler.ts';

export const buildErasure = erasing(tables);

/** The response names the receipt. */
export const erased = (id: ErasureId | undefined) =>
  success(undefined, id === undefined ? {} : { location: `/api/v1/erasures/${id}` });
