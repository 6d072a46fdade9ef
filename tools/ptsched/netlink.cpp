// SPDX-License-Identifier: MIT
/* The module, over generic netlink. */
#include "tools/module_events_socket.hpp"
#include "tools/ptsched/scheduler.hpp"
#include <ptsched/base/fd.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <utility>

namespace ptsched {

namespace {

/* What the kernel said about the request that was refused. */
struct Refusal {
    int error = 0;
    std::string text;
    std::uint32_t attribute = 0;
};

/* Reads the extended acknowledgement, which libnl leaves to its caller. */
void read_extended_ack(const nlmsghdr *header, const nl_msg *request, Refusal &refusal)
{
    const auto *answer = static_cast<const nlmsgerr *>(NLMSG_DATA(header));
    std::size_t skip = NLMSG_ALIGN(sizeof(*answer));

    if (!(header->nlmsg_flags & NLM_F_ACK_TLVS))
        return;
    if (!(header->nlmsg_flags & NLM_F_CAPPED))
        skip += NLMSG_ALIGN(answer->msg.nlmsg_len - NLMSG_HDRLEN);
    if (header->nlmsg_len < NLMSG_HDRLEN + skip)
        return;

    auto *first = reinterpret_cast<nlattr *>(static_cast<char *>(NLMSG_DATA(const_cast<nlmsghdr *>(header))) + skip);
    nlattr *table[NLMSGERR_ATTR_MAX + 1];
    if (nla_parse(table, NLMSGERR_ATTR_MAX, first, static_cast<int>(header->nlmsg_len - NLMSG_HDRLEN - skip), nullptr))
        return;
    if (nlattr *text = table[NLMSGERR_ATTR_MSG])
        refusal.text.assign(static_cast<char *>(nla_data(text)),
                            strnlen(static_cast<char *>(nla_data(text)), static_cast<std::size_t>(nla_len(text))));

    /* The offset says where in the request the attribute at fault begins. */
    nlattr *offset = table[NLMSGERR_ATTR_OFFS];
    const nlmsghdr *sent = nlmsg_hdr(const_cast<nl_msg *>(request));
    nlattr fault;
    if (offset && nla_len(offset) >= 4 && nla_get_u32(offset) + sizeof(fault) <= sent->nlmsg_len) {
        std::memcpy(&fault, reinterpret_cast<const char *>(sent) + nla_get_u32(offset), sizeof(fault));
        refusal.attribute = fault.nla_type & NLA_TYPE_MASK;
    }
}

class Module : public Scheduler {
public:
    Module(NetlinkSocket socket, int family) : socket_(std::move(socket)), family_(family)
    {
        int on = 1;
        /* Without it, refusals are less clear. */
        setsockopt(nl_socket_get_fd(socket_.get()), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
    }

    std::string kind() const override { return "module"; }
    std::string path() const override { return device_node(); }

    ptsched_query query() override
    {
        ptsched_query answer{};
        UniqueFd fd(open(path().c_str(), O_RDWR | O_CLOEXEC));

        if (!fd)
            throw Error("cannot open " + path() + ": " + strerror(errno));
        answer.size = sizeof(answer);
        if (ioctl(fd.get(), PTSCHED_IOC_QUERY, &answer))
            throw Error(path() + " does not answer the version query: " + strerror(errno));
        return answer;
    }

    int subscribe() override
    {
        events_ = open_module_events_socket<Error>();
        return nl_socket_get_fd(events_.get());
    }

    std::vector<Event> read_events() override
    {
        std::vector<Event> found;
        Visitor visit = [&](const void *message, std::size_t length) { found.push_back(parse_event(message, length)); };

        nl_socket_modify_cb(events_.get(), NL_CB_VALID, NL_CB_CUSTOM, on_message, &visit);
        int error = 0;
        /* A bound, so that the reader can show what it has while more comes. */
        while ((error >= 0 || error == -NLE_NOMEM) && found.size() < 256) {
            error = nl_recvmsgs_default(events_.get());
            rethrow();
            overrun_ = overrun_ || error == -NLE_NOMEM;
        }
        if (error < 0 && error != -NLE_NOMEM && error != -NLE_AGAIN && error != -NLE_INTR)
            throw Error(std::string("reading events: ") + nl_geterror(error));
        /* The kernel says of a loss first, and takes nothing more until what came before has been read. */
        if (overrun_ && error == -NLE_AGAIN) {
            found.push_back({.event = PTSCHED_EVENT_LOST, .pid = {}, .comm = {}});
            overrun_ = false;
        }
        return found;
    }

protected:
    void dump(nl_msg *request, const Visitor &visit) override
    {
        if (int error = transact(request, NLM_F_DUMP, visit); error < 0)
            fail(error);
    }

    /* The kernel looks the number up among this process's descriptors, while it is sent. */
    void change(nl_msg *request, int /*passed*/) override
    {
        int error = transact(request, NLM_F_ACK, [](const void *, std::size_t) {});
        if (error < 0)
            fail(error);
    }

private:
    NetlinkSocket socket_;
    NetlinkSocket events_{nullptr, nl_socket_free};
    bool overrun_ = false; /* events were lost behind what is still to be read */
    int family_;
    nl_msg *request_ = nullptr;
    Refusal refusal_;
    static inline std::exception_ptr thrown_;

    /* libnl is C: what a visitor throws travels around it. */
    static void rethrow()
    {
        if (thrown_)
            std::rethrow_exception(std::exchange(thrown_, nullptr));
    }

    static int on_message(nl_msg *message, void *visitor)
    {
        const nlmsghdr *header = nlmsg_hdr(message);
        try {
            (*static_cast<const Visitor *>(visitor))(nlmsg_data(header),
                                                     static_cast<std::size_t>(nlmsg_datalen(header)));
        } catch (...) {
            thrown_ = std::current_exception();
            return NL_STOP;
        }
        return NL_OK;
    }

    static int on_error(sockaddr_nl *, nlmsgerr *answer, void *self)
    {
        auto *module = static_cast<Module *>(self);
        /* The header lies before its payload. */
        const auto *header = reinterpret_cast<nlmsghdr *>(reinterpret_cast<char *>(answer) - NLMSG_HDRLEN);
        module->refusal_ = {.error = -answer->error, .text = {}, .attribute = 0};
        read_extended_ack(header, module->request_, module->refusal_);
        return NL_STOP;
    }

    static int on_end(nl_msg *, void *done)
    {
        *static_cast<bool *>(done) = true;
        return NL_STOP;
    }

    int transact(nl_msg *request, int flags, const Visitor &visit)
    {
        bool done = false;
        nlmsghdr *header = nlmsg_hdr(request);

        header->nlmsg_type = static_cast<std::uint16_t>(family_);
        header->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
        header->nlmsg_seq = NL_AUTO_SEQ;
        refusal_ = {};
        request_ = request;

        std::unique_ptr<nl_cb, decltype(&nl_cb_put)> callbacks(nl_cb_alloc(NL_CB_DEFAULT), nl_cb_put);
        if (!callbacks)
            throw std::bad_alloc();
        nl_cb_set(callbacks.get(), NL_CB_VALID, NL_CB_CUSTOM, on_message, const_cast<Visitor *>(&visit));
        nl_cb_set(callbacks.get(), NL_CB_FINISH, NL_CB_CUSTOM, on_end, &done);
        nl_cb_set(callbacks.get(), NL_CB_ACK, NL_CB_CUSTOM, on_end, &done);
        nl_cb_err(callbacks.get(), NL_CB_CUSTOM, on_error, this);

        int error = nl_send_auto(socket_.get(), request);
        while (error >= 0 && !done && !refusal_.error) {
            error = nl_recvmsgs(socket_.get(), callbacks.get());
            rethrow();
        }
        return refusal_.error ? -NLE_FAILURE : error;
    }

    [[noreturn]] void fail(int error)
    {
        if (refusal_.error)
            throw_refusal(refusal_.error, refusal_.text, refusal_.attribute);
        throw Error(error == -NLE_AGAIN ? "the module does not answer" : std::string("netlink: ") + nl_geterror(error));
    }
};

} // namespace

std::unique_ptr<Scheduler> open_module()
{
    std::string node = device_node();

    if (access(node.c_str(), F_OK))
        throw Error("the module is not loaded: " + node + ": " + strerror(errno));
    NetlinkSocket socket = open_netlink_socket<Error>();
    int family = genl_ctrl_resolve(socket.get(), PTSCHED_GENL_NAME);
    if (family < 0)
        throw Error(node + " exists, but the kernel has no generic netlink family " PTSCHED_GENL_NAME ": " +
                    nl_geterror(family));
    return std::make_unique<Module>(std::move(socket), family);
}

} // namespace ptsched
