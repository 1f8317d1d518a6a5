import type { Locator, Page } from 'playwright-core';

/** What a task took. */
export interface Effort {
  /** Clicks until the place where the task is done; a choice in a list is one. */
  toPlace: number;
  /** Clicks in all, confirmations included. */
  clicks: number;
  /** Key presses; pasting is one. */
  keys: number;
  /** From the first action until the answer is visible. */
  ms: number;
}

/** A user of a page, whose clicks and key presses are counted. */
export function aUser(page: Page) {
  const startedAt = performance.now();
  let [clicks, keys] = [0, 0];
  let toPlace: number | undefined;
  return {
    page,
    async click(target: Locator): Promise<void> {
      clicks += 1;
      await target.click();
    },
    async choose(target: Locator, label: string): Promise<void> {
      clicks += 1;
      await target.selectOption({ label });
    },
    async press(key: string): Promise<void> {
      keys += 1;
      await page.keyboard.press(key);
    },
    async paste(target: Locator, text: string): Promise<void> {
      keys += 1;
      await target.fill(text);
    },
    async type(target: Locator, text: string): Promise<void> {
      keys += text.length;
      await target.pressSequentially(text);
    },
    /** Called where the task is done: clicks from here on are the task itself. */
    isThere(): void {
      toPlace ??= clicks;
    },
    /** What it took until now. */
    effort: (): Effort => ({ toPlace: toPlace ?? clicks, clicks, keys, ms: performance.now() - startedAt }),
  };
}
export type User = ReturnType<typeof aUser>;
