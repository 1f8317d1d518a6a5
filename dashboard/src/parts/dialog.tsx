import type { ReactNode } from 'react';
import { Dialog as AriaDialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import styles from './dialog.module.css';

export interface DialogProps {
  title: string;
  isOpen: boolean;
  /** Absent where there is no way back but an answer. */
  onClose?: (() => void) | undefined;
  /** `alertdialog` for what cannot be undone. */
  role?: 'dialog' | 'alertdialog';
  isWide?: boolean;
  children: ReactNode;
}

/**
 * A dialog over the page, which keeps its state behind it. Clicks beside it do not close it: what was typed
 * would be lost.
 */
export const Dialog = ({
  title,
  isOpen,
  onClose,
  role = 'dialog',
  isWide = false,
  children,
}: DialogProps) => (
  <ModalOverlay
    className={styles.overlay ?? ''}
    isOpen={isOpen}
    isKeyboardDismissDisabled={onClose === undefined}
    onOpenChange={(open) => {
      if (!open) onClose?.();
    }}
  >
    <Modal className={[styles.modal, isWide ? styles.wide : ''].join(' ')}>
      <AriaDialog role={role} className={styles.dialog ?? ''}>
        <Heading slot="title" level={2} className={styles.title ?? ''}>
          {title}
        </Heading>
        {children}
      </AriaDialog>
    </Modal>
  </ModalOverlay>
);

export const DialogActions = ({ children }: { children: ReactNode }) => (
  <div className={styles.actions}>{children}</div>
);
