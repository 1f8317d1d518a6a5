import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/**
 * Finds faults of a page's appearance, each as a sentence:
 * - a text over another one, outside its box, or cut without an ellipsis,
 * - controls of different heights beside one another,
 * - names of the code in sentences,
 * - English words on a German page.
 *
 * Code, URLs and quoted data are exempt from the last two.
 */
const FIND_FAULTS = `((isGerman) => {
  const QUOTED = 'code, pre, bdi, time, kbd, input, [translate="no"], body [lang="en"], [aria-hidden="true"], .visually-hidden';
  const ENGLISH = /\\b(the|of|is|are|were|with|from|to|has|have|been|and|for|not|no|this|that|by|you|your)\\b/i;
  const CODE_NAME = /\\b(undefined|null|NaN|[a-z]+_[a-z_]+|[a-z]+[A-Z][A-Za-z]+)\\b|\\[object/;
  /** Of a box that floats over the page, which may cover it. */
  const layerOf = (element) => {
    for (let each = element; each; each = each.parentElement)
      if (/fixed|sticky/.test(getComputedStyle(each).position) || each.matches('[role=dialog]')) return each;
    return null;
  };
  const isShown = (element) =>
    element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
    element.closest('.visually-hidden, [inert]') === null &&
    // Hidden from the eye in another way: clipped to nothing.
    !(() => {
      for (let each = element; each; each = each.parentElement)
        if (getComputedStyle(each).clipPath === 'inset(50%)') return true;
      return false;
    })();
  const visiblePart = (rect, element) => {
    let { left, right, top, bottom } = rect;
    for (let each = element; each; each = each.parentElement) {
      const style = getComputedStyle(each);
      const box = each.getBoundingClientRect();
      if (style.overflowX !== 'visible') [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
      if (style.overflowY !== 'visible') [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
      if (style.position === 'fixed') break;
    }
    return { left, right, top, bottom };
  };
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.data.trim();
    const element = node.parentElement;
    if (text === '' || element.closest('script, style, option, svg') || !isShown(element)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    texts.push({ text, element, rects: [...range.getClientRects()].filter(({ width }) => width > 0) });
  }
  const faults = [];
  const named = (text) => JSON.stringify(text.slice(0, 60));

  for (const { text, element } of texts) {
    if (element.closest(QUOTED)) continue;
    if (isGerman && ENGLISH.test(text.replaceAll(/https?:\\S+/g, ''))) faults.push(named(text) + ' is English');
    if (CODE_NAME.test(text)) faults.push(named(text) + ' has a name of the code');
  }

  for (const { text, element, rects } of texts)
    for (let each = element; each && each !== document.body; each = each.parentElement) {
      const style = getComputedStyle(each);
      if (style.display === 'inline' || style.display === 'contents') continue;
      const box = each.getBoundingClientRect();
      const scrolls = /auto|scroll/.test(style.overflowX);
      if (scrolls) break;
      const isBeyond = rects.some(({ left, right }) => right > box.right + 1 || left < box.left - 1);
      const hasEllipsis = style.textOverflow === 'ellipsis' && style.overflowX !== 'visible';
      if (isBeyond && !hasEllipsis) faults.push(named(text) + ' is wider than its box');
      if (isBeyond || hasEllipsis) break;
      const isCut = rects.some(({ top, bottom }) => bottom > box.bottom + 3 || top < box.top - 3);
      if (isCut && style.overflowY === 'hidden') faults.push(named(text) + ' is cut');
    }

  const drawn = texts.flatMap(({ text, element, rects }) => {
    const layer = layerOf(element);
    return rects.map((rect) => ({ text, element, layer, ...visiblePart(rect, element) }));
  }).filter(({ left, right, top, bottom }) => right - left > 1 && bottom - top > 1)
    .sort((one, other) => one.top - other.top);
  for (const [index, one] of drawn.entries())
    for (let next = index + 1; next < drawn.length && drawn[next].top < one.bottom - 4; next += 1) {
      const other = drawn[next];
      if (one.layer !== other.layer || one.element === other.element) continue;
      if (Math.min(one.right, other.right) - Math.max(one.left, other.left) > 2)
        faults.push(named(one.text) + ' is over ' + named(other.text));
    }

  const CONTROLS = 'button, a[class*=button], input:not([type=checkbox]):not([type=radio]), select';
  // Others stand in a row as words do.
  const hasOutline = (control) => {
    const { borderColor, backgroundColor } = getComputedStyle(control);
    return ![borderColor, backgroundColor].every((color) => color === 'rgba(0, 0, 0, 0)');
  };
  const parents = new Set([...document.querySelectorAll(CONTROLS)].map(({ parentElement }) => parentElement));
  for (const parent of parents) {
    const boxes = [...parent.children]
      .filter((child) => child.matches(CONTROLS) && isShown(child) && hasOutline(child) && !child.closest('ul[aria-label], table'))
      .map((child) => ({ child, box: child.getBoundingClientRect() }));
    for (const [index, { child, box }] of boxes.entries())
      for (const other of boxes.slice(index + 1))
        if (other.box.top < box.bottom - 4 && box.top < other.box.bottom - 4 && Math.abs(other.box.height - box.height) > 1)
          faults.push(named(child.textContent) + ' is not as high as ' + named(other.child.textContent));
  }
  return [...new Set(faults)];
})`;

export const faultsOf = (page: Page, isGerman: boolean): Promise<string[]> =>
  page.evaluate(`${FIND_FAULTS}(${isGerman})`);

export async function expectNoFaults(page: Page, isGerman: boolean, called: string): Promise<void> {
  expect(await faultsOf(page, isGerman), called).toEqual([]);
}
