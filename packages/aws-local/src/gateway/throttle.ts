/** Token bucket of a method (API Gateway Developer Guide, Throttle requests). */
export interface ThrottleLimits {
  /** Sustained requests per second. */
  rate: number;
  /** Requests at once after an idle time. */
  burst: number;
}

/** Whether a request at this time is admitted. */
export type Throttle = (time: Date) => boolean;

/** Token bucket, full at first: each request takes a token, and `rate` tokens return per second. */
export function throttle({ rate, burst }: ThrottleLimits): Throttle {
  let tokens = burst;
  let at: number | undefined;
  return (time) => {
    const now = time.getTime();
    // A clock that was set back adds and removes no tokens.
    tokens = Math.min(burst, tokens + (Math.max(0, now - (at ?? now)) / 1000) * rate);
    at = now;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}

export const unthrottled: Throttle = () => true;
