/** How many requests a method takes (API Gateway Developer Guide, Throttle requests: a token bucket). */
export interface ThrottleLimits {
  /** Requests a second that it takes for as long as one likes. */
  rate: number;
  /** Requests that it takes at once, when it had none for a while. */
  burst: number;
}

/** Whether a request that comes at this moment is taken. */
export type Throttle = (time: Date) => boolean;

/** A bucket of tokens, full at first: each request takes one, and `rate` of them come back each second. */
export function throttle({ rate, burst }: ThrottleLimits): Throttle {
  let tokens = burst;
  let at: number | undefined;
  return (time) => {
    const now = time.getTime();
    // A clock that was set back brings no tokens, and takes none.
    tokens = Math.min(burst, tokens + (Math.max(0, now - (at ?? now)) / 1000) * rate);
    at = now;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}

/** Takes everything. */
export const unthrottled: Throttle = () => true;
